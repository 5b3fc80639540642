#include "graph/plan/phases/phase_numbers.hpp"

namespace penstock::graph {
namespace {

/// Returns the distance from one forward phase to the next.
std::int32_t stride_of(PhaseLiveness liveness) {
  switch (liveness) {
    case PhaseLiveness::off_ipu_after_forward_no_overlap:
      // At the number between two phases, one phase leaves and the next comes.
      return longest_stay;
    case PhaseLiveness::off_ipu_after_each_phase:
      return 2 * longest_stay;  // No tensor stays on the IPU so long.
    default:
      return 1;
  }
}

/// Returns the distance from the last forward phase to the first backward phase.
std::int32_t gap_of(PhaseLiveness liveness, bool separate_backward) {
  if (liveness != PhaseLiveness::always_live) return 2 * longest_stay;
  return separate_backward ? longest_stay : 0;
}

}  // namespace

std::vector<PhaseNumbers> number_phases(std::int32_t phases, PhaseLiveness liveness,
                                        bool separate_backward) {
  const std::int32_t stride = stride_of(liveness);
  const std::int32_t last = (phases - 1) * stride;
  const std::int32_t turn = 2 * last + gap_of(liveness, separate_backward);
  std::vector<PhaseNumbers> numbers;
  for (std::int32_t phase = 0; phase < phases; ++phase)
    numbers.push_back({phase * stride, turn - phase * stride});
  return numbers;
}

}  // namespace penstock::graph
