// An Onednn computes convolutions with oneDNN, by a module. The module is built where oneDNN is
// installed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/ops/convolution.hpp"

namespace penstock::benchmarks {

/// `own` layouts are those that oneDNN chooses for each tensor of a call. `plain` layouts are
/// [N,C,H,W] and [O,C/groups,k,k].
enum class Layouts : std::uint8_t { own, plain };

/// An OnednnCall is a pass of a convolution that can be repeated. It has memory of its own.
class OnednnCall {
 public:
  virtual ~OnednnCall() = default;
  virtual void run() = 0;
  /// Returns the result of the last run in the plain layout.
  virtual std::vector<float> result() const = 0;
};

class Onednn {
 public:
  virtual ~Onednn() = default;
  virtual std::string version() const = 0;
  /// Returns a call that computes `pass` from copies of `first` and `second`, which are in the
  /// plain layouts and in the order in which the comment on Pass names them. A run does not convert
  /// the copies to the call's layouts, because they are converted here. From now on, oneDNN
  /// computes on the calling thread alone. The call must run on that thread.
  virtual std::unique_ptr<OnednnCall> call(const Convolution& convolution, Pass pass,
                                           Layouts layouts, std::span<const float> first,
                                           std::span<const float> second) = 0;
};

/// Returns the Onednn of the module beside this program, or null if there is no such module. The
/// first call loads the module.
Onednn* onednn();

}  // namespace penstock::benchmarks
