#include "actors/pipeline/step_actor.hpp"

namespace penstock::actors {

void StepState::start(StepHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline) {
  self = actor;
  setup = std::move(pipeline);
  collector.emplace(setup);
}

void StepState::on_step_call(StepCall& call) {
  first_micro_batch = call.first_micro_batch;
  micro_batches = call.micro_batches;
  cut.reset();
  collector->begin(call.micro_batches);
  updates_missing = updates_of(call.micro_batches);
  self->send(links.feed, std::move(call));
}

std::int64_t StepState::updates_of(std::int64_t count) const {
  if (!setup->plan->training) return 0;
  return count / setup->gradient_accumulation * setup->replicas *
         static_cast<std::int64_t>(setup->stages());
}

void StepState::on_call_cut(const CallCut& message) {
  cut = CutAfter{message.micro_batches};
  collector->leave_out(micro_batches - message.micro_batches);
  updates_missing -= updates_of(micro_batches - message.micro_batches);
  setup->host->progress();
  answer_if_done();
}

void StepState::on_stage_outputs(const StageOutputs& outputs) {
  const auto& plans = setup->plan->stages[static_cast<std::size_t>(outputs.stage)].outputs;
  for (std::size_t i = 0; i < plans.size(); ++i)
    collector->add(static_cast<std::size_t>(plans[i].output), outputs.replica,
                   outputs.micro_batch - first_micro_batch, outputs.tensors[i]);
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
  if (updates_missing > 0 || !collector->complete()) return;
  if (cut)
    setup->host->answer(*cut);
  else
    setup->host->answer(collector->take());
}

void StepState::on_set_rules(const SetRules& message) {
  for (const OptimizerHandle& optimizer : links.optimizers) self->send(optimizer, message);
  self->send(links.gate, message);
  setup->host->answer(Done{});
}

StepHandle::behavior_type step_actor(StepHandle::stateful_pointer<StepState> self,
                                     std::shared_ptr<const PipelineSetup> setup) {
  self->state.start(self, std::move(setup));
  return {[=](StepLinks& links) { self->state.on_links(links); },
          [=](StepCall& call) { self->state.on_step_call(call); },
          [=](const CallCut& cut) { self->state.on_call_cut(cut); },
          [=](const StageOutputs& outputs) { self->state.on_stage_outputs(outputs); },
          [=](const UpdateApplied& applied) { self->state.on_update_applied(applied); },
          [=](const SetRules& message) { self->state.on_set_rules(message); }};
}

}  // namespace penstock::actors
