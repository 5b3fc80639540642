// A Runner is somebody who can do a task again and again.
#pragma once

namespace penstock::benchmarks {

class Runner {
 public:
  virtual ~Runner() = default;
  virtual void run() = 0;
  /// Returns the mean loss (in training) or the mean logit of the last run, by which contestants
  /// are checked to have done the same.
  virtual double outcome() const = 0;
};

}  // namespace penstock::benchmarks
