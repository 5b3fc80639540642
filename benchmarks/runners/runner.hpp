// A Runner is an object that can do a task again and again.
#pragma once

namespace penstock::benchmarks {

class Runner {
 public:
  virtual ~Runner() = default;
  virtual void run() = 0;
  /// Returns the mean loss (in training) or the mean logit (in inference) of the last run. Equal
  /// outcomes show that two contestants have done the same work.
  virtual double outcome() const = 0;
};

}  // namespace penstock::benchmarks
