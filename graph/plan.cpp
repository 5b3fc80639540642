#include "graph/plan.hpp"

#include "engine/values/memory.hpp"

namespace penstock::graph {

Cost cost_of(const Instruction& instruction) {
  if (!instruction.op->cost) return {};
  return instruction.op->cost(instruction.attributes, instruction.input_types,
                              instruction.output_types);
}

std::int32_t edge_depth(const Plan& plan, const Edge& edge) {
  return plan.stages[index(edge.to)].in_flight;
}

std::int64_t stage_bytes(const Plan& plan, std::size_t stage) {
  const StagePlan& s = plan.stages[stage];
  std::int64_t bytes =
      s.parameter_bytes + s.accumulator_bytes + s.scratch_bytes + s.stash_bytes * s.stash_slots;
  for (const std::int32_t position : s.backward_sends) {
    const Edge& edge = plan.edges[index(position)];
    if (edge.kind == EdgeKind::gradient)
      bytes += aligned(edge.type.bytes()) * edge_depth(plan, edge);
  }
  return bytes;
}

}  // namespace penstock::graph
