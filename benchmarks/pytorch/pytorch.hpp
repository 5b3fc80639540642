// A Pytorch is the contestant that a module provides. The module is built where libtorch is
// installed.
#pragma once

#include <memory>
#include <string>

#include "benchmarks/runners/runner.hpp"
#include "benchmarks/runners/work.hpp"

namespace penstock::benchmarks {

class Pytorch {
 public:
  virtual ~Pytorch() = default;
  /// Returns PyTorch's version, and the name of the library that computes its matrix products.
  virtual std::string description() const = 0;
  /// Sets how many threads share an op's work, for every runner from now on.
  virtual void use_threads(int threads) = 0;
  /// Returns a runner that has copies of `weights` and `samples`.
  virtual std::unique_ptr<Runner> runner(const Task& task, const Cut& cut, const Weights& weights,
                                         const Samples& samples) = 0;
};

/// Returns the Pytorch of the module beside this program, or null if there is no such module. The
/// first call loads the module.
Pytorch* pytorch();

}  // namespace penstock::benchmarks
