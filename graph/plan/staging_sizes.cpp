#include "graph/plan/staging_sizes.hpp"

#include <algorithm>

#include "graph/kernels/updates/updates.hpp"
#include "graph/values/memory.hpp"

namespace penstock::graph {
namespace {

constexpr std::int64_t element_bytes = 4;
constexpr std::int64_t line_elements = 16;
/// If fewer elements came at a time, the calls that copy elements would cost more than the copying
/// itself.
constexpr std::int64_t least_elements = 1024;

}  // namespace

std::int64_t least_staging_bytes(const StagedTensors& staged) {
  const std::int64_t elements =
      staged.in_pieces ? std::min(staged.elements, least_elements) : staged.elements;
  return staged.tensors * aligned(elements * element_bytes);
}

std::int64_t elements_at_once(const StagedTensors& staged, std::int64_t scratch_bytes) {
  if (!staged.in_pieces || staged.tensors == 0) return staged.elements;
  const std::int64_t lines = scratch_bytes / staged.tensors / (line_elements * element_bytes);
  return std::min(staged.elements, lines * line_elements);
}

std::int64_t program_staging_bytes(std::int64_t elements) {
  return aligned(std::min(elements, program_piece) * element_bytes);
}

StagedTensors rule_tensors(const StagedUpdate& update) {
  return {.elements = update.elements,
          .tensors = update.state_tensors + (update.sum ? 1 : 0) + (update.weight ? 1 : 0),
          .in_pieces = update.elementwise};
}

std::int64_t update_staging_bytes(const StagedUpdate& update) {
  const auto norm_of = [](std::int64_t elements) {
    return aligned(std::min(elements, norm_block) * element_bytes);
  };
  const std::int64_t of_weight = update.weight ? norm_of(update.measured) : 0;
  const std::int64_t rule = std::max(least_staging_bytes(rule_tensors(update)), of_weight);
  if (!update.sum) return rule;
  const std::int64_t norm = norm_of(update.elements);
  return std::max({rule, norm, least_staging_bytes({.elements = update.elements, .tensors = 2})});
}

}  // namespace penstock::graph
