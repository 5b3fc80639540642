#include "actors/execution/reduced_sums.hpp"

#include <algorithm>

#include "engine/values/memory.hpp"

namespace penstock::actors {

std::int64_t ReducedLayout::place_of(std::int64_t offset) const {
  const auto next = std::ranges::upper_bound(parts, offset, {}, &ReducedPart::offset);
  const ReducedPart& part = *std::prev(next);
  return part.place + (offset - part.offset);
}

ReducedLayout reduced_layout(const PipelineSetup& setup, const UpdateRules& rules,
                             std::size_t stage, bool on_host) {
  ReducedLayout layout;
  bool all = true;
  for (const graph::StagePlan& owner : setup.plan->stages)
    for (const graph::VariablePlan& variable : owner.variables)
      for (const graph::GradientPlan& use : variable.gradients) {
        if (static_cast<std::size_t>(use.stage) != stage || use.on_host != on_host) continue;
        const auto& rule = rules.variables[static_cast<std::size_t>(variable.variable)];
        const bool whole = !divided(setup, rule, variable.type.shape.elements());
        all = all && whole;
        if (whole) layout.parts.push_back({use.offset, aligned(variable.type.bytes())});
      }
  const graph::StagePlan& plan = setup.plan->stages[stage];
  const std::int64_t block = on_host ? plan.host_accumulator_bytes : plan.accumulator_bytes;
  if (all && block > 0) layout.parts = {{0, block}};
  std::ranges::sort(layout.parts, {}, &ReducedPart::offset);
  for (ReducedPart& part : layout.parts) {
    part.place = layout.bytes;
    layout.bytes += part.bytes;
  }
  return layout;
}

}  // namespace penstock::actors
