// Runner: somebody who can do a task again and again.
#pragma once

namespace penstock::benchmarks {

class Runner {
 public:
  virtual ~Runner() = default;
  virtual void run() = 0;
  /// Of the last run: the mean loss (training) or the mean logit, by which contestants are checked
  /// to have done the same.
  virtual double outcome() const = 0;
};

}  // namespace penstock::benchmarks
