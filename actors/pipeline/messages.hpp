// The protocol: every message of a running model, and who sends it to whom. Tensors travel as
// handles; whoever receives one may read it until the stage that owns the memory has ended its
// backward turn for that micro-batch (see graph/plan/plan.hpp). Handlers of these messages answer
// nothing; what comes back is a message of its own.
#pragma once

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/execution/host_port.hpp"
#include "actors/execution/pipeline_setup.hpp"
#include "actors/execution/stage_core.hpp"
#include "actors/execution/weight_update.hpp"
#include "actors/system/letter.hpp"
#include "penstock/report.hpp"
#include "penstock/tensor.hpp"
#include "penstock/trace.hpp"

namespace penstock::actors {

// They hold handles, whose types name them.
struct RunProgram;
struct BringWeights;
struct RunUpdate;
struct Contribution;
struct StageLinks;
struct FeedLinks;
struct OptimizerLinks;
struct GateLinks;
struct StepLinks;
struct SupervisorLinks;

// ---- data: one message per edge and micro-batch ------------------------------------------------

/// Feed or stage -> stage: what an edge of the plan carries; empty for an edge of kind `order`.
struct EdgeTensor {
  std::int32_t edge = 0;  ///< position in Plan::edges
  std::int64_t micro_batch = 0;
  Tensor tensor = {};
};

/// Stage -> step: the outputs of one micro-batch. The step reads them and answers OutputsTaken.
struct StageOutputs {
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::int64_t micro_batch = 0;
  std::shared_ptr<const std::vector<Tensor>> tensors = {};
};

/// Step -> stage: the memory of one micro-batch's outputs may be written again.
struct OutputsTaken {};

/// First stage -> feed: one micro-batch has left the pipeline; another may enter.
struct Credit {
  std::int32_t replica = 0;
};

// ---- work on an IPU ----------------------------------------------------------------------------

/// Device -> stage: the program has run.
struct ProgramDone {
  Work work = {};
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Device -> stage, where stages have turns: its weights have come to the IPU for that work.
struct WeightsBrought {
  Work work = {};
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Stage -> the stages of the next phase, with its first work of a turn: yours is next. What the
/// host store keeps for that work may come.
struct TurnNear {
  Work work = {};
};

/// Device -> optimizer: its work is done.
struct UpdateDone {
  UpdatePhase phase = UpdatePhase::apply;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

// ---- weight update, once per window ------------------------------------------------------------

/// Stage -> its optimizer: the window's gradients are summed; the arena is yours.
struct WindowComplete {
  std::int64_t update = 0;  ///< counted from 0 since the model was built
};

/// Reducer -> optimizers: all replicas' sums are there, to be read until the update is done, and
/// the memory of their totals. Each optimizer has its IPU add up its share before it says that it
/// is ready; where one IPU may be busy at a time, when the gate says `reduce`. The totals are
/// there, and sums may be cleared, in the gate's rounds after that.
struct Reduced {
  std::shared_ptr<const ReducedSums> sums = {};
};

/// Optimizer -> optimizer of the same replica: my stage holds copies of your stage's parameters;
/// these are its gradient sums. Until the update is done, its arena is yours as far as they go.
struct TiedSums {
  std::int32_t stage = 0;
  StageSums sums = {};
};

/// Optimizer -> gate: this stage's gradient sums are complete, those of the other replicas
/// included. It is sent once per update, and everything that the update needs is there then.
struct GradientsReady {
  std::int32_t replica = 0;
  std::int32_t stage = 0;
};

/// Gate -> optimizers, in rounds: every stage has finished one before the next begins.
struct UpdateOrder {
  UpdatePhase phase = UpdatePhase::apply;
  double clip_factor = 1;  ///< for `follow` and `apply`
  /// An `apply` after `follow` needs the squared norms of the directions, by position in
  /// Plan::variables.
  std::shared_ptr<const std::vector<double>> directions = {};
};

/// Optimizer -> gate: the phase that the gate ordered is done.
struct PhaseDone {
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  /// Has the norms, after `measure` and `follow`; to be read until the next round.
  std::shared_ptr<const WeightUpdate> update = {};
};

/// Gate -> optimizer: every weight is at the next update; your stage may go on.
struct Release {};

/// Optimizer -> its stage: the new weights are in place; the next window may begin.
struct WeightsReady {
  std::vector<TraceEvent> work = {};  ///< what the update did on the IPU
  OffloadReport state_moves = {};     ///< and copied to and from there, all updates together
  CollectiveReport collectives = {};  ///< with the other replicas, all updates together
};

/// Stage -> step: its update is done, and noted in the stage's status.
struct UpdateApplied {};

/// Host -> step -> optimizers and gate: other rules, from the next update on.
struct SetRules {
  std::shared_ptr<const UpdateRules> rules = {};
};

/// What the host store keeps for a stage of a replica, in one block.
enum class HostClass : std::uint8_t { optimizer_state, accumulators, weights, stash };
struct BlockKey {
  HostClass of = HostClass::optimizer_state;
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::int64_t micro_batch = 0;  ///< of a stash

  auto operator<=>(const BlockKey&) const = default;
};
/// Optimizer or stage -> host store: fetch a block for as long as it is needed (then it is gone
/// from the store), or put it there.
struct FetchBlock {
  BlockKey key = {};
};
struct StoreBlock {
  BlockKey key = {};
  std::shared_ptr<std::byte> block = {};
};
/// Host store -> whoever fetched.
struct FetchedBlock {
  std::shared_ptr<std::byte> block = {};
};

// ---- the host's calls --------------------------------------------------------------------------

/// Host -> step -> feed: train or run on these tensors.
struct StepCall {
  std::vector<Tensor> inputs = {};  ///< in the order of Plan::inputs
  std::int64_t first_micro_batch = 0;
  std::int64_t micro_batches = 0;  ///< per replica
  std::stop_token stop = {};       ///< asks for no further window, or turn of inference, to begin
};
/// Feed -> step: the call was asked to stop, and only so many of its micro-batches per replica have
/// begun. No others will.
struct CallCut {
  std::int64_t micro_batches = 0;
};

// ---- supervision -------------------------------------------------------------------------------

/// Anybody -> supervisor: this run has failed.
struct Failed {
  Failure failure = {};
};
/// Host -> supervisor: the call that I wait for has stood still; find out why. Once more if that is
/// not known a while later.
struct NothingMoves {
  std::uint64_t progress = 0;  ///< HostPort::progressed(), since then
  double quiet_seconds = 0;    ///< for so long
};
/// Supervisor -> stages, optimizers, gate and feed: what do you wait for? The answer is WaitsFor;
/// who has no memory for it gives none.
struct ExplainWait {};
struct WaitsFor {
  std::string text = {};  ///< empty: nothing that others would not name
};

// ---- who understands what ----------------------------------------------------------------------

using StageHandle = caf::typed_actor<caf::reacts_to<StageLinks>, caf::reacts_to<EdgeTensor>,
                                     caf::reacts_to<OutputsTaken>, caf::reacts_to<ProgramDone>,
                                     caf::reacts_to<TurnNear>, caf::reacts_to<WeightsBrought>,
                                     caf::reacts_to<WeightsReady>, caf::reacts_to<ExplainWait>>;
using DeviceHandle = caf::typed_actor<caf::reacts_to<RunProgram>, caf::reacts_to<BringWeights>,
                                      caf::reacts_to<RunUpdate>>;
using FeedHandle = caf::typed_actor<caf::reacts_to<FeedLinks>, caf::reacts_to<StepCall>,
                                    caf::reacts_to<Credit>, caf::reacts_to<ExplainWait>>;
using OptimizerHandle =
    caf::typed_actor<caf::reacts_to<OptimizerLinks>, caf::reacts_to<WindowComplete>,
                     caf::reacts_to<Reduced>, caf::reacts_to<TiedSums>, caf::reacts_to<UpdateOrder>,
                     caf::reacts_to<UpdateDone>, caf::reacts_to<Release>, caf::reacts_to<SetRules>,
                     caf::reacts_to<ExplainWait>>;
using ReducerHandle = caf::typed_actor<caf::reacts_to<Contribution>>;
using GateHandle = caf::typed_actor<caf::reacts_to<GateLinks>, caf::reacts_to<GradientsReady>,
                                    caf::reacts_to<PhaseDone>, caf::reacts_to<SetRules>,
                                    caf::reacts_to<ExplainWait>>;
using HostStoreHandle =
    caf::typed_actor<caf::reacts_to<StoreBlock>, caf::replies_to<FetchBlock>::with<FetchedBlock>>;
using StepHandle = caf::typed_actor<caf::reacts_to<StepLinks>, caf::reacts_to<StepCall>,
                                    caf::reacts_to<CallCut>, caf::reacts_to<StageOutputs>,
                                    caf::reacts_to<UpdateApplied>, caf::reacts_to<SetRules>>;
using SupervisorHandle = caf::typed_actor<caf::reacts_to<SupervisorLinks>, caf::reacts_to<Failed>,
                                          caf::reacts_to<NothingMoves>, caf::reacts_to<WaitsFor>>;

/// Stage -> device: run a program of `arena`'s stage, which holds all that the host store keeps for
/// it; the device brings its weights to the IPU's room for them, unless they are still there.
struct RunProgram {
  StageHandle stage = {};
  std::shared_ptr<Arena> arena = {};
  Work work = {};
  std::int32_t replica = 0;
  RunConstants constants = {};
};

/// Stage -> device: bring the weights for a program that is near, if they are not there.
struct BringWeights {
  StageHandle stage = {};
  std::shared_ptr<Arena> arena = {};
  Work work = {};
  std::int32_t replica = 0;
};

/// Optimizer -> device: run a phase of a weight update. The answer is written beforehand, for an
/// update that has begun must not end for want of memory.
struct RunUpdate {
  OptimizerHandle optimizer = {};
  std::shared_ptr<WeightUpdate> update = {};
  UpdatePhase phase = UpdatePhase::apply;
  std::string who = {};
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::shared_ptr<Letter<UpdateDone>> answer = {};
};

/// Optimizer -> reducer: one replica's gradient sums are complete, in `arena`. The reducer keeps
/// the arena, and tells every replica's optimizer by Reduced where all of them are. It reads none
/// of the sums itself; the optimizers do, until the update is done.
struct Contribution {
  std::int32_t replica = 0;
  OptimizerHandle optimizer = {};
  std::shared_ptr<Arena> arena = {};
};

// Everybody's neighbours, sent once before the first call (spawning cannot name actors that do not
// exist yet).
struct StageLinks {
  DeviceHandle device = {};
  std::vector<StageHandle> stages = {};  ///< of the same replica
  OptimizerHandle optimizer = {};        ///< none in inference
  FeedHandle feed = {};
  StepHandle step = {};
  SupervisorHandle supervisor = {};
  HostStoreHandle host_store = {};  ///< none where everything stays on the IPUs
};
struct FeedLinks {
  std::vector<std::vector<StageHandle>> stages = {};  ///< [replica][stage]
  StepHandle step = {};
};
struct OptimizerLinks {
  DeviceHandle device = {};
  StageHandle stage = {};
  std::vector<OptimizerHandle> optimizers = {};  ///< of the same replica, by stage
  ReducerHandle reducer = {};                    ///< none for a single replica
  GateHandle gate = {};
  HostStoreHandle host_store = {};  ///< none where state stays on the IPU
  SupervisorHandle supervisor = {};
};
struct GateLinks {
  std::vector<OptimizerHandle> optimizers = {};  ///< replica by replica, by stage
  SupervisorHandle supervisor = {};
};
struct StepLinks {
  FeedHandle feed = {};
  std::vector<std::vector<StageHandle>> stages = {};  ///< [replica][stage]
  std::vector<OptimizerHandle> optimizers = {};       ///< none in inference
  GateHandle gate = {};
};
struct SupervisorLinks {
  std::vector<StageHandle> stages = {};
  std::vector<OptimizerHandle> optimizers = {};
  FeedHandle feed = {};
  GateHandle gate = {};  ///< none in inference
};

}  // namespace penstock::actors

// Handles and memory of this process: none of these crosses its border.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::EdgeTensor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StageOutputs)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::OutputsTaken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::Credit)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::ProgramDone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::UpdateDone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::WindowComplete)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::Reduced)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::TiedSums)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::GradientsReady)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::UpdateOrder)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::PhaseDone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::Release)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::UpdateApplied)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::WeightsReady)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::SetRules)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::FetchBlock)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StoreBlock)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::FetchedBlock)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StepCall)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::CallCut)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::Failed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::NothingMoves)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::ExplainWait)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::WaitsFor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::RunProgram)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::BringWeights)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::WeightsBrought)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::TurnNear)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::RunUpdate)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::Contribution)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StageLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::FeedLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::OptimizerLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::GateLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StepLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::SupervisorLinks)
