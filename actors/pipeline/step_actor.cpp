#include "actors/pipeline/step_actor.hpp"

#include <algorithm>
#include <iterator>

#include "actors/execution/whole_state.hpp"

namespace penstock::actors {

void StepState::start(StepHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline) {
  self = actor;
  setup = std::move(pipeline);
  collector.emplace(setup);
}

void StepState::on_step_call(StepCall& call) {
  first_micro_batch = call.first_micro_batch;
  collector->begin(call.micro_batches);
  const std::int64_t updates =
      setup->plan->training ? call.micro_batches / setup->gradient_accumulation : 0;
  updates_missing = updates * setup->replicas * static_cast<std::int64_t>(setup->stages());
  self->send(links.feed, std::move(call));
}

void StepState::on_stage_outputs(const StageOutputs& outputs) {
  const auto& plans = setup->plan->stages[static_cast<std::size_t>(outputs.stage)].outputs;
  for (std::size_t i = 0; i < plans.size(); ++i)
    collector->add(static_cast<std::size_t>(plans[i].output), outputs.replica,
                   outputs.micro_batch - first_micro_batch, (*outputs.tensors)[i]);
  self->send(links.stages[static_cast<std::size_t>(outputs.replica)]
                         [static_cast<std::size_t>(outputs.stage)],
             OutputsTaken{});
  setup->host->progress();
  answer_if_done();
}

void StepState::on_update_applied(const UpdateApplied&) {
  --updates_missing;
  setup->host->progress();
  answer_if_done();
}

void StepState::answer_if_done() {
  if (updates_missing == 0 && collector->complete()) setup->host->answer(collector->take());
}

void StepState::on_set_rules(const SetRules& message) {
  for (const OptimizerHandle& optimizer : links.optimizers) self->send(optimizer, message);
  self->send(links.gate, message);
  setup->host->answer(Done{});
}

template <class Message>
void StepState::ask_stages(const Message& message) {
  answers_missing = links.stages.size() * setup->stages();
  for (const auto& stages : links.stages)
    for (const StageHandle& stage : stages) self->send(stage, message);
}

void StepState::on_read_variables(const ReadVariables& message) {
  variables.assign(setup->plan->variables.size(), Tensor());
  answers_missing = setup->stages();
  for (const StageHandle& stage : links.stages[static_cast<std::size_t>(message.replica)])
    self->send(stage, message);
}

void StepState::on_write_variables(const WriteVariables& message) {
  variables.clear();
  ask_stages(message);
}

void StepState::on_stage_variables(const StageVariables& answer) {
  const auto& plans = setup->plan->stages[static_cast<std::size_t>(answer.stage)].variables;
  for (std::size_t k = 0; k < answer.values.size(); ++k)
    variables[static_cast<std::size_t>(plans[k].variable)] = answer.values[k];
  if (--answers_missing == 0) setup->host->answer(std::move(variables));
}

void StepState::on_read_status(const ReadStatus& message) {
  statuses.clear();
  ask_stages(message);
}

void StepState::on_status_answer(const StageStatusAnswer& answer) {
  statuses.push_back(answer.status);
  if (--answers_missing > 0) return;
  std::sort(statuses.begin(), statuses.end(), [](const StageStatus& a, const StageStatus& b) {
    return std::pair(a.report.replica, a.report.stage) <
           std::pair(b.report.replica, b.report.stage);
  });
  setup->host->answer(std::move(statuses));
}

void StepState::on_set_run_constants(const SetRunConstants& message) {
  for (const auto& stages : links.stages)
    for (const StageHandle& stage : stages) self->send(stage, message);
  setup->host->answer(Done{});
}

template <class Message>
void StepState::ask_optimizers(const Message& message, std::size_t replicas) {
  answers_missing = replicas * setup->stages();
  for (std::size_t i = 0; i < answers_missing; ++i) self->send(links.optimizers[i], message);
}

void StepState::on_read_state(const ReadState& message) {
  states.clear();
  const bool shards = setup->sharding.optimizer_state.on;
  ask_optimizers(message, shards ? links.stages.size() : 1);
}

void StepState::on_write_state(const WriteState& message) {
  states.clear();
  ask_optimizers(message, links.stages.size());
}

void StepState::on_optimizer_answer(OptimizerAnswer& answer) {
  std::ranges::move(answer.variables, std::back_inserter(states));
  if (--answers_missing > 0) return;
  setup->host->answer(OptimizerTensors{answer.updates, whole_state(*setup->plan, states)});
  states.clear();
}

StepHandle::behavior_type step_actor(StepHandle::stateful_pointer<StepState> self,
                                     std::shared_ptr<const PipelineSetup> setup) {
  self->state.start(self, std::move(setup));
  return {[=](StepLinks& links) { self->state.on_links(links); },
          [=](StepCall& call) { self->state.on_step_call(call); },
          [=](const StageOutputs& outputs) { self->state.on_stage_outputs(outputs); },
          [=](const UpdateApplied& applied) { self->state.on_update_applied(applied); },
          [=](const SetRules& message) { self->state.on_set_rules(message); },
          [=](const ReadVariables& message) { self->state.on_read_variables(message); },
          [=](const WriteVariables& message) { self->state.on_write_variables(message); },
          [=](const StageVariables& answer) { self->state.on_stage_variables(answer); },
          [=](const ReadStatus& message) { self->state.on_read_status(message); },
          [=](const StageStatusAnswer& answer) { self->state.on_status_answer(answer); },
          [=](const SetRunConstants& message) { self->state.on_set_run_constants(message); },
          [=](const ReadState& message) { self->state.on_read_state(message); },
          [=](const WriteState& message) { self->state.on_write_state(message); },
          [=](OptimizerAnswer& answer) { self->state.on_optimizer_answer(answer); }};
}

}  // namespace penstock::actors
