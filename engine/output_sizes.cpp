#include "engine/output_sizes.hpp"

#include <algorithm>

#include "actors/execution/output_collector.hpp"

namespace penstock {

std::vector<OutputPlanReport> output_sizes(const actors::PipelineSetup& setup,
                                           const std::vector<std::string>& anchors,
                                           std::int64_t micro_batches) {
  const graph::Plan& plan = *setup.plan;
  const auto bytes = [&](std::int32_t output, const actors::OutputSelection& selection) {
    return actors::returned_type(plan.outputs[graph::index(output)].type, selection, micro_batches,
                                 setup.replicas)
        .bytes();
  };
  std::vector<OutputPlanReport> sizes;
  const auto add = [&](OutputKind kind, std::int32_t output) {
    sizes.push_back({kind, plan.outputs[graph::index(output)].name, bytes(output, setup.outputs)});
  };
  if (plan.loss) add(OutputKind::loss, *plan.loss);
  for (std::int32_t output = 0; output < std::ssize(plan.outputs); ++output)
    if (output != plan.loss && std::ranges::count(plan.anchors, output) == 0)
      add(OutputKind::output, output);
  for (std::size_t i = 0; i < anchors.size(); ++i)
    sizes.push_back({OutputKind::anchor, anchors[i], bytes(plan.anchors[i], setup.anchors[i])});
  return sizes;
}

}  // namespace penstock
