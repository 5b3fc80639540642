// The step actor is the host's side of the pipeline. It passes a call on to the feed, collects the
// outputs of the stages, and answers the host once all outputs have come and every stage has done
// every update of the call.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "actors/execution/output_collector.hpp"
#include "actors/host/call_slot.hpp"
#include "actors/host/pipeline_pulse.hpp"
#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

struct StepState {
  void start(StepHandle::pointer actor, std::shared_ptr<const PipelineSetup> pipeline,
             std::shared_ptr<CallSlot> host_call, std::shared_ptr<PipelinePulse> moves,
             std::shared_ptr<OutputCollector> results);
  void on_links(StepLinks& message) { links = std::move(message); }
  void on_step_call(StepCall& message);
  void on_call_cut(const CallCut& message);
  void on_stage_outputs(const StageOutputs& outputs);
  void on_update_applied(const UpdateApplied& applied);
  void on_set_rules(const SetRules& message);
  void on_rules_taken(const RulesTaken& message);

  /// Checks that `outputs` are those of a stage for one of the call's micro-batches.
  /// @throws Error internal
  void check(const StageOutputs& outputs) const;
  /// Returns whether all outputs have come, and all updates are done.
  bool is_done() const;
  void answer_if_done();
  /// Returns how many updates each stage does in `micro_batches` micro-batches of each replica.
  std::int64_t updates_of(std::int64_t micro_batches) const;
  /// Returns the place of a stage in `updates_left`.
  std::size_t place_of(std::int32_t replica, std::int32_t stage) const {
    return static_cast<std::size_t>(replica) * setup->stages() + static_cast<std::size_t>(stage);
  }

  StepHandle::pointer self = nullptr;
  std::shared_ptr<const PipelineSetup> setup;
  std::shared_ptr<CallSlot> call;
  std::shared_ptr<PipelinePulse> pulse;
  StepLinks links;
  // The host has this collector, too, and uses it while no call is under way.
  std::shared_ptr<OutputCollector> collector;
  std::int64_t first_micro_batch = 0;
  // This has, for each replica and then each stage, how many updates the stage still has to do.
  std::vector<std::int64_t> updates_left;
  std::int64_t micro_batches = 0;  // The call has this many micro-batches per replica.
  // This many of them have been done by the actors of a pipeline that has failed in this call.
  std::int64_t done = 0;
  std::set<std::int32_t> without_rules;  // These processes have not taken the new rules yet.
  std::optional<CutAfter> cut;           // If the call was stopped early, this is its answer.
};

StepHandle::behavior_type step_actor(StepHandle::stateful_pointer<StepState> self,
                                     std::shared_ptr<const PipelineSetup> setup,
                                     std::shared_ptr<CallSlot> call,
                                     std::shared_ptr<PipelinePulse> pulse,
                                     std::shared_ptr<OutputCollector> collector);

}  // namespace penstock::actors
