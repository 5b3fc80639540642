#include "actors/pipeline/step_actor.hpp"

#include <algorithm>

#include "actors/execution/expected_tensor.hpp"
#include "actors/messages/out_of_turn.hpp"
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
  updates_left.assign(static_cast<std::size_t>(setup->replicas) * setup->stages(), 0);
}

void StepState::on_step_call(StepCall& message) {
  first_micro_batch = message.first_micro_batch;
  micro_batches = message.micro_batches;
  done = message.done;
  cut.reset();
  if (message.done == 0) collector->begin(message.micro_batches);
  std::ranges::fill(updates_left, updates_of(message.micro_batches - message.done));
  self->send(links.feed, std::move(message));
  answer_if_done();  // The actors that have failed may have done everything.
}

std::int64_t StepState::updates_of(std::int64_t count) const {
  if (!setup->plan->training) return 0;
  return count / setup->gradient_accumulation;
}

void StepState::on_call_cut(const CallCut& message) {
  if (cut || is_done() || message.micro_batches < done || message.micro_batches > micro_batches ||
      (setup->plan->training && message.micro_batches % setup->gradient_accumulation != 0))
    throw out_of_turn("CallCut after " + std::to_string(message.micro_batches) + " micro-batches",
                      "no call is under way that can end there");
  cut = CutAfter{message.micro_batches};
  collector->leave_out(micro_batches - message.micro_batches);
  for (std::int64_t& left : updates_left) left -= updates_of(micro_batches - message.micro_batches);
  pulse->beat();
  answer_if_done();
}

void StepState::check(const StageOutputs& outputs) const {
  expect_stage(*setup, outputs.replica, outputs.stage, "StageOutputs");
  const auto message = [&] {
    return "StageOutputs of " +
           stage_name(*setup, outputs.replica, static_cast<std::size_t>(outputs.stage)) +
           " for micro-batch " + std::to_string(outputs.micro_batch);
  };
  const graph::Plan& plan = *setup->plan;
  const auto& expected = plan.stages[static_cast<std::size_t>(outputs.stage)].outputs;
  if (expected.empty()) throw out_of_turn(message(), "the stage has no outputs");
  const std::int64_t end = first_micro_batch + (cut ? cut->micro_batches : micro_batches);
  if (outputs.micro_batch < first_micro_batch || outputs.micro_batch >= end)
    throw out_of_turn(message(), "the call has no such micro-batch");
  const auto next = collector->next(static_cast<std::size_t>(expected[0].output), outputs.replica);
  if (outputs.micro_batch != first_micro_batch + next)
    throw out_of_turn(message(), "the step waits for the outputs of micro-batch " +
                                     std::to_string(first_micro_batch + next));
  if (outputs.tensors.size() != expected.size())
    throw Error(Errc::internal, "the message " + message() + ": expected " +
                                    std::to_string(expected.size()) + " tensors, got " +
                                    std::to_string(outputs.tensors.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const graph::TensorInfo& output = plan.outputs[static_cast<std::size_t>(expected[i].output)];
    expect_tensor(outputs.tensors[i], output.type,
                  [&] { return message() + ", output \"" + output.name + '"'; });
  }
}

void StepState::on_stage_outputs(const StageOutputs& outputs) {
  check(outputs);
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

void StepState::on_update_applied(const UpdateApplied& applied) {
  expect_stage(*setup, applied.replica, applied.stage, "UpdateApplied");
  if (updates_left[place_of(applied.replica, applied.stage)] <= 0)
    throw out_of_turn("UpdateApplied of " + stage_name(*setup, applied.replica,
                                                       static_cast<std::size_t>(applied.stage)),
                      "the stage has done all updates of the call");
  --updates_left[place_of(applied.replica, applied.stage)];
  pulse->beat();
  answer_if_done();
}

bool StepState::is_done() const {
  return collector->complete() &&
         std::ranges::none_of(updates_left, [](std::int64_t left) { return left > 0; });
}

void StepState::answer_if_done() {
  if (!is_done()) return;
  if (cut)
    call->answer(*cut);
  else
    call->answer(collector->outcome());
}

void StepState::on_set_rules(const SetRules& message) {
  for (const OptimizerHandle& optimizer : links.optimizers) self->send(optimizer, message);
  self->send(links.gate, message);
  for (const auto& [process, part] : links.parts) {
    without_rules.insert(process);
    self->send(part, NewRules{*message.rules});
  }
  if (links.parts.empty()) call->answer(Done{});
}

void StepState::on_rules_taken(const RulesTaken& message) {
  if (without_rules.erase(message.process) == 0)
    throw out_of_turn("RulesTaken of process " + std::to_string(message.process),
                      "the step has not sent that process new rules");
  pulse->beat();
  if (without_rules.empty()) call->answer(Done{});
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
          [=](const SetRules& message) { self->state.on_set_rules(message); },
          [=](const RulesTaken& message) { self->state.on_rules_taken(message); }};
}

}  // namespace penstock::actors
