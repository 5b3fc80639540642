#include "actors/pipeline/step_actor.hpp"

#include "actors/system/workers.hpp"

namespace penstock::actors {

void StepState::start(StepHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
                      std::shared_ptr<CallSlot> host_call, std::shared_ptr<PipelinePulse> moves,
                      std::shared_ptr<OutputCollector> results) {
  self = actor;
  setup = std::move(pipeline);
  call = std::move(host_call);
  pulse = std::move(moves);
  collector = std::move(results);
}

void StepState::on_step_call(StepCall& message) {
  first_micro_batch = message.first_micro_batch;
  micro_batches = message.micro_batches;
  cut.reset();
  if (message.done == 0) collector->begin(message.micro_batches);
  updates_missing = updates_of(message.micro_batches - message.done);
  self->send(links.feed, std::move(message));
  answer_if_done();  // The actors that have failed may have done everything.
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
  pulse->beat();
  answer_if_done();
}

void StepState::on_stage_outputs(const StageOutputs& outputs) {
  const auto& plans = setup->plan->stages[static_cast<std::size_t>(outputs.stage)].outputs;
  std::size_t bytes = 0;
  const std::int64_t number = outputs.micro_batch - first_micro_batch;
  for (std::size_t i = 0; i < plans.size(); ++i)
    if (collector->takes(static_cast<std::size_t>(plans[i].output), number))
      bytes += outputs.tensors[i].bytes();
  let_others_work_for(self->context(), bytes);
  traced(setup->host_trace.get(),
         {.actor = HostActor::step,
          .replica = outputs.replica,
          .stage = outputs.stage,
          .micro_batch = outputs.micro_batch},
         [&] {
           for (std::size_t i = 0; i < plans.size(); ++i)
             collector->add(static_cast<std::size_t>(plans[i].output), outputs.replica, number,
                            outputs.tensors[i]);
         });
  self->send(links.stages[static_cast<std::size_t>(outputs.replica)]
                         [static_cast<std::size_t>(outputs.stage)],
             OutputsTaken{});
  pulse->beat();
  answer_if_done();
}

void StepState::on_update_applied(const UpdateApplied&) {
  --updates_missing;
  pulse->beat();
  answer_if_done();
}

void StepState::answer_if_done() {
  if (updates_missing > 0 || !collector->complete()) return;
  if (cut)
    call->answer(*cut);
  else
    call->answer(collector->outcome());
}

void StepState::on_set_rules(const SetRules& message) {
  for (const OptimizerHandle& optimizer : links.optimizers) self->send(optimizer, message);
  self->send(links.gate, message);
  call->answer(Done{});
}

StepHandle::behavior_type step_actor(StepHandle::stateful_pointer<StepState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<CallSlot> call,
                                     std::shared_ptr<PipelinePulse> pulse,
                                     std::shared_ptr<OutputCollector> collector) {
  self->state.start(self, std::move(setup), std::move(call), std::move(pulse),
                    std::move(collector));
  return {[=](StepLinks& links) { self->state.on_links(links); },
          [=](StepCall& call) { self->state.on_step_call(call); },
          [=](const CallCut& cut) { self->state.on_call_cut(cut); },
          [=](const StageOutputs& outputs) { self->state.on_stage_outputs(outputs); },
          [=](const UpdateApplied& applied) { self->state.on_update_applied(applied); },
          [=](const SetRules& message) { self->state.on_set_rules(message); }};
}

}  // namespace penstock::actors
