#include "tests/support/plan_runner.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "tests/support/random_tensor.hpp"
#include "tests/support/watched_block.hpp"

namespace penstock::testing {

using graph::EdgeKind;
using graph::index;
using graph::Location;
using graph::Space;
using graph::StagePlan;
using graph::TensorType;

/// A Stage holds the memory of a stage that all its micro-batches use.
struct PlanRunner::Stage {
  explicit Stage(const StagePlan& plan)
      : parameters(plan.parameter_bytes),
        buffers(plan.buffer_bytes),
        weight_room(plan.host_parameter_bytes),
        prepared(plan.prepared_bytes),
        accumulators(plan.accumulator_bytes),
        host_accumulators(plan.host_accumulator_bytes),
        scratch(plan.scratch_bytes) {}

  WatchedBlock parameters, buffers, weight_room, prepared, accumulators, host_accumulators, scratch;

  std::byte* place_of(const graph::VariablePlan& variable) const {
    const WatchedBlock& block = graph::in_host_store(variable.home.space) ? weight_room
                                : variable.home.space == Space::buffers   ? buffers
                                                                          : parameters;
    return block.data() + variable.home.offset;
  }
  const std::byte* sum_at(const Location& home) const {
    return (graph::in_host_store(home.space) ? host_accumulators : accumulators).data() +
           home.offset;
  }
};

/// A MicroBatch holds the memory of a micro-batch, in each stage and on each edge.
struct PlanRunner::MicroBatch {
  MicroBatch(const graph::Plan& plan, std::size_t number, const std::vector<Tensor>& tensors)
      : number(number), inputs(tensors) {
    for (const StagePlan& stage : plan.stages) {
      stashes.emplace_back(stage.stash_bytes);
      of_host.emplace_back(stage.output_bytes);
      host_stashes.emplace_back(stage.host_stash_bytes);
    }
    for (const graph::Edge& edge : plan.edges)
      sent_back.emplace_back(edge.kind == EdgeKind::gradient ? edge.type.bytes() : 0);
  }

  std::size_t number;
  const std::vector<Tensor>& inputs;
  const std::byte* at(std::size_t stage, const Location& source) const {
    const auto& blocks = source.space == Space::host_stash ? host_stashes
                         : source.space == Space::outputs  ? of_host
                                                           : stashes;
    return blocks[stage].data() + source.offset;
  }

  std::vector<WatchedBlock> stashes, host_stashes, of_host, sent_back;
};

namespace {

void expect_intact(const WatchedBlock& block, const std::string& what) {
  if (!block.border_intact()) throw std::logic_error("written past the end of " + what);
}

Tensor copy(const TensorType& type, const std::byte* from) {
  const auto bytes = WatchedBlock(type.bytes());
  std::memcpy(bytes.data(), from, static_cast<std::size_t>(type.bytes()));
  return Tensor::wrap(type.dtype, type.shape, bytes.block());
}

}  // namespace

PlanRunner::PlanRunner(graph::Plan plan, graph::PartRunner* parts)
    : plan_(std::move(plan)), parts_(parts) {
  for (const StagePlan& stage : plan_.stages) stages_.push_back(std::make_shared<Stage>(stage));
  for (const graph::VariableInfo& info : plan_.variables)
    set_variable(info.name, uniform(info.type.shape, graph::hash_name(info.name), 0.1, 1));
}

PlanRunner::Stage& PlanRunner::stage_of(const graph::VariableInfo& info) const {
  return *stages_[index(info.stage)];
}

const graph::VariablePlan& PlanRunner::plan_of(const std::string& name) const {
  for (const StagePlan& stage : plan_.stages)
    for (const graph::VariablePlan& variable : stage.variables)
      if (plan_.variables[index(variable.variable)].name == name && variable.owner == graph::none)
        return variable;
  throw std::logic_error("the plan has no variable " + name);
}

void PlanRunner::set_variable(const std::string& name, const Tensor& value) {
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    for (const graph::VariablePlan& variable : plan_.stages[stage].variables)
      if (plan_.variables[index(variable.variable)].name == name)
        std::memcpy(stages_[stage]->place_of(variable), value.raw(), value.bytes());
}

Tensor PlanRunner::variable(const std::string& name) const {
  const auto& variable = plan_of(name);
  return copy(variable.type,
              stage_of(plan_.variables[index(variable.variable)]).place_of(variable));
}

std::vector<Tensor> PlanRunner::gradients(const std::string& name) const {
  const auto& variable = plan_of(name);
  std::vector<Tensor> sums;
  for (const graph::GradientPlan& gradient : variable.gradients)
    sums.push_back(copy(variable.type, stages_[index(gradient.stage)]->sum_at(gradient.home)));
  return sums;
}

std::vector<std::vector<Tensor>> PlanRunner::run(
    const std::vector<std::vector<Tensor>>& micro_batches) {
  for (const auto& stage : stages_) {
    stage->accumulators.fill(0xff);
    stage->host_accumulators.fill(0xff);
  }
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) prepare(stage);
  std::vector<MicroBatch> batches;
  for (std::size_t m = 0; m < micro_batches.size(); ++m)
    batches.emplace_back(plan_, m, micro_batches[m]);
  for (MicroBatch& batch : batches)
    for (std::size_t stage = 0; stage < stages_.size(); ++stage)
      run_program(Direction::forward, stage, batch);
  std::vector<std::vector<Tensor>> results;
  for (const MicroBatch& batch : batches) results.push_back(outputs(batch));
  for (MicroBatch& batch : batches)
    for (std::size_t stage = stages_.size(); stage-- > 0;)
      run_program(Direction::backward, stage, batch);
  return results;
}

void PlanRunner::prepare(std::size_t stage) {
  const Stage& memory = *stages_[stage];
  memory.scratch.fill(0xff);
  memory.prepared.fill(0xff);
  graph::run(plan_.stages[stage].prepare, {.parameters = memory.parameters.data(),
                                           .buffers = memory.buffers.data(),
                                           .scratch = memory.scratch.data(),
                                           .prepared = memory.prepared.data(),
                                           .runner = parts_});
  expect_intact(memory.scratch, "the scratch memory");
}

void PlanRunner::run_program(Direction direction, std::size_t stage, MicroBatch& batch) {
  const bool forward = direction == Direction::forward;
  const Stage& memory = *stages_[stage];
  memory.scratch.fill(0xff);
  const auto received = this->received(stage, batch);
  std::vector<std::byte*> sent_back;
  for (const std::int32_t edge : plan_.stages[stage].backward_sends)
    sent_back.push_back(batch.sent_back[index(edge)].data());
  graph::run(forward ? plan_.stages[stage].forward : plan_.stages[stage].backward,
             {.parameters = memory.parameters.data(),
              .buffers = memory.buffers.data(),
              .weight_room = memory.weight_room.data(),
              .accumulators = memory.accumulators.data(),
              .host_accumulators = forward ? nullptr : memory.host_accumulators.data(),
              .stash = batch.stashes[stage].data(),
              .host_stash = batch.host_stashes[stage].data(),
              .scratch = memory.scratch.data(),
              .received = received,
              .sent_back = sent_back,
              .prepared = memory.prepared.data(),
              .outputs = batch.of_host[stage].data(),
              .random = {.seed = 3, .micro_batch = static_cast<std::uint32_t>(batch.number)},
              .summed = static_cast<std::int64_t>(batch.number),
              .runner = parts_});
  expect_intact(memory.parameters, "the parameters");
  expect_intact(memory.buffers, "the buffers");
  expect_intact(memory.weight_room, "the room for weights");
  expect_intact(memory.prepared, "what is prepared");
  expect_intact(memory.accumulators, "the accumulators");
  expect_intact(memory.host_accumulators, "the accumulators in the host store");
  expect_intact(memory.scratch, "the scratch memory");
  expect_intact(batch.stashes[stage], "the stash");
  expect_intact(batch.host_stashes[stage], "the stash in the host store");
  expect_intact(batch.of_host[stage], "the outputs");
  for (const std::int32_t edge : plan_.stages[stage].backward_sends)
    expect_intact(batch.sent_back[index(edge)], "a gradient that is sent");
}

std::vector<const std::byte*> PlanRunner::received(std::size_t stage,
                                                   const MicroBatch& batch) const {
  std::vector<const std::byte*> result;
  const StagePlan& plan = plan_.stages[stage];
  for (const auto* receives : {&plan.forward_receives, &plan.backward_receives})
    for (const std::int32_t position : *receives) {
      const graph::Edge& edge = plan_.edges[index(position)];
      switch (edge.kind) {
        case EdgeKind::input:
          result.push_back(batch.inputs[index(edge.input)].raw());
          break;
        case EdgeKind::activation:
          result.push_back(batch.at(index(edge.from), edge.source));
          break;
        case EdgeKind::gradient:
          result.push_back(batch.sent_back[index(position)].data());
          break;
        case EdgeKind::order:
          result.push_back(nullptr);
          break;
      }
    }
  return result;
}

std::vector<Tensor> PlanRunner::outputs(const MicroBatch& batch) const {
  std::vector<Tensor> result(plan_.outputs.size());
  for (std::size_t stage = 0; stage < plan_.stages.size(); ++stage)
    for (const graph::OutputPlan& output : plan_.stages[stage].outputs)
      result[index(output.output)] =
          copy(plan_.outputs[index(output.output)].type, batch.at(stage, output.source));
  return result;
}

std::vector<std::vector<Tensor>> random_inputs(const graph::Plan& plan, std::size_t micro_batches) {
  std::vector<std::vector<Tensor>> inputs(micro_batches);
  std::uint64_t seed = 10;
  for (auto& batch : inputs)
    for (const graph::TensorInfo& input : plan.inputs)
      batch.push_back(uniform(input.type.shape, ++seed));
  return inputs;
}

std::vector<Tensor> window_results(const graph::Plan& plan,
                                   const std::vector<std::vector<Tensor>>& inputs,
                                   graph::PartRunner* parts) {
  PlanRunner runner(plan, parts);
  std::vector<Tensor> all;
  for (const auto& outputs : runner.run(inputs))
    all.insert(all.end(), outputs.begin(), outputs.end());
  for (const graph::VariableInfo& variable : plan.variables) {
    const auto sums = runner.gradients(variable.name);
    all.insert(all.end(), sums.begin(), sums.end());
    all.push_back(runner.variable(variable.name));
  }
  return all;
}

}  // namespace penstock::testing
