// These functions describe the passes of a convolution as calls of Penstock's ops.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "benchmarks/ops/convolution.hpp"
#include "benchmarks/ops/op_cases.hpp"

namespace penstock::benchmarks {

/// `passes` has the names of the passes, in the order of Pass.
inline constexpr std::array<const char*, 3> passes{"forward", "weight gradient", "input gradient"};
/// Passes has a case for each pass, in the order of Pass.
using Passes = std::array<OpCase, passes.size()>;
inline const OpCase& case_of(const Passes& cases, Pass pass) {
  return cases[static_cast<std::size_t>(pass)];
}

/// Returns the size of the images and their number, as a text such as "8x8 b=32".
std::string setting_of(const Convolution& convolution);

/// Returns the passes of a convolution without a bias in the layout [N,C,H,W].
/// The cases are called by setting_of().
Passes convolution_passes(const Convolution& convolution);

/// Returns the same passes in the batch-lane layout, or nothing if networks never compute this
/// convolution in that layout.
std::optional<Passes> lane_passes(const Convolution& convolution);

}  // namespace penstock::benchmarks
