#include "engine/actor_setup.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/plan/replica_ipus.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/ipu_order.hpp"

namespace penstock {
namespace {

void expect_ipu_numbers(const graph::Plan& plan, int replicas) {
  const graph::ReplicaIpus ipus(plan, replicas);
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage)
    if (const std::int64_t ipu = ipus.of(replicas - 1, stage); ipu > highest_ipu)
      throw Error(Errc::invalid_topology,
                  "options.topology.replication_factor: expected IPU numbers up to " +
                      std::to_string(highest_ipu) + " in every replica, but replica " +
                      std::to_string(replicas - 1) + " of the stage on IPU " +
                      std::to_string(plan.stages[stage].ipu) + " would be on IPU " +
                      std::to_string(ipu) + "; place the stages on lower ones");
}

actors::OutputSelection output_selection(const OutputOptions& output, bool training) {
  if (output.mode != OutputMode::automatic) return {output.mode, output.period};
  return {training ? OutputMode::final : OutputMode::all, output.period};
}

std::vector<actors::OutputSelection> anchor_selections(const OutputOptions& output, bool training) {
  std::vector<actors::OutputSelection> selections;
  for (const Anchor& anchor : output.anchors)
    selections.push_back(anchor.mode == OutputMode::automatic
                             ? output_selection(output, training)
                             : actors::OutputSelection{anchor.mode, anchor.period});
  return selections;
}

/// Checks that `tensor`, which is summed up over micro-batches because the option `option` says so,
/// is of a type whose sums have room for them. @throws Error invalid_argument if it is not.
void expect_sum(const std::string& option, const graph::TensorInfo& tensor) {
  const graph::TensorType& type = tensor.type;
  if (type.dtype == DType::f32 || type.dtype == DType::i64) return;
  throw Error(Errc::invalid_argument,
              option + ": expected outputs of type f32 or i64 to sum up, but " +
                  quoted_text(tensor.name) + " is " + graph::to_string(type) +
                  "; to_float() or to_i64() in the model makes one that can be summed up");
}

/// Checks the outputs and anchors that are summed up. @throws Error as expect_sum().
void expect_sums(const actors::PipelineSetup& setup, const std::vector<Anchor>& anchors) {
  const graph::Plan& plan = *setup.plan;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const auto found = std::ranges::find(plan.anchors, static_cast<std::int32_t>(i));
    const auto k = static_cast<std::size_t>(found - plan.anchors.begin());
    const bool is_anchor = found != plan.anchors.end();
    if ((is_anchor ? setup.anchors[k] : setup.outputs).mode != OutputMode::sum) continue;
    const bool decides = is_anchor && anchors[k].mode != OutputMode::automatic;
    expect_sum(
        decides ? "options.output.anchors[" + std::to_string(k) + "].mode" : "options.output.mode",
        plan.outputs[i]);
  }
}

}  // namespace

actors::PipelineSetup actor_setup(const Options& options, std::shared_ptr<const graph::Plan> plan) {
  expect_ipu_numbers(*plan, options.topology.replication_factor);
  const bool training = plan->training;
  actors::PipelineSetup setup{
      .plan = std::move(plan),
      .replicas = options.topology.replication_factor,
      .input_group = options.topology.input_group_size,
      .gradient_accumulation = training ? options.training.gradient_accumulation : 1,
      .reduction = options.training.reduction,
      .reduction_strategy = options.training.reduction_strategy,
      .offload = offload_of(options),
      .sharding = options.training.sharding,
      .seed = options.seed,
      .outputs = output_selection(options.output, training),
      .anchors = anchor_selections(options.output, training),
      .trace = options.runtime.trace,
      .trace_events = options.runtime.trace_events,
      .stall_seconds = options.runtime.stall_seconds};
  expect_sums(setup, options.output.anchors);
  return setup;
}

}  // namespace penstock
