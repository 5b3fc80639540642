#include "graph/plan/plan.hpp"

#include <algorithm>

#include "graph/values/memory.hpp"

namespace penstock::graph {

Cost cost_of(const Instruction& instruction) {
  if (!instruction.op->cost) return {};
  return instruction.op->cost(instruction.attributes, instruction.input_types,
                              instruction.output_types);
}

std::int32_t edge_depth(const Plan& plan, const Edge& edge) {
  return plan.stages[index(edge.to)].in_flight;
}

std::int32_t host_stash_slots(const StagePlan& stage) {
  const auto is_there = [](const OutputPlan& output) {
    return output.source.space == Space::host_stash;
  };
  return std::ranges::any_of(stage.outputs, is_there) ? stage.output_slots : stage.in_flight;
}

StageBytes bytes_of_stage(const Plan& plan, std::size_t stage, const Schedule* schedule) {
  const StagePlan& stage_plan = plan.stages[stage];
  const auto in_flight = [&](std::size_t of) {
    return schedule ? most_in_flight(*schedule, static_cast<int>(of),
                                     static_cast<int>(plan.stages.size()), plan.window)
                    : plan.stages[of].in_flight;
  };
  const std::int32_t unread = stage_plan.output_slots - stage_plan.in_flight;
  StageBytes bytes{.weights = stage_plan.parameter_bytes + stage_plan.buffer_bytes +
                              stage_plan.prepared_bytes + stage_plan.accumulator_bytes +
                              stage_plan.kept_bytes,
                   .activations = stage_plan.stash_bytes * in_flight(stage) +
                                  stage_plan.output_bytes * (in_flight(stage) + unread),
                   .scratch = stage_plan.scratch_bytes,
                   .weight_room = stage_plan.host_parameter_bytes};
  for (const std::int32_t position : stage_plan.backward_sends) {
    const Edge& edge = plan.edges[index(position)];
    if (edge.kind == EdgeKind::gradient)
      bytes.activations += aligned(edge.type.bytes()) * in_flight(index(edge.to));
  }
  return bytes;
}

std::int64_t stage_bytes(const Plan& plan, std::size_t stage) {
  return bytes_of_stage(plan, stage).total();
}

}  // namespace penstock::graph
