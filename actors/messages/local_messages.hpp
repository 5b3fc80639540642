// These messages of a running model never leave its process, because they hold its memory, its code
// or handles of its actors. The comment on a message begins with sender -> receiver, and then says
// in the sender's words what the message tells the receiver.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/execution/pipeline_setup.hpp"
#include "actors/host/wait_picture.hpp"
#include "actors/messages/handles.hpp"
#include "actors/system/letter.hpp"
#include "actors/update/weight_update.hpp"

namespace penstock::actors {

// ---- work on an IPU ----------------------------------------------------------------------------

/// Stage -> IPU: run the program of `work` on `arena`, to which all blocks of the host store that
/// the program needs have been lent. First bring my stage's weights to your room for weights,
/// unless they are there already.
struct RunProgram {
  StageHandle stage = {};
  std::shared_ptr<Arena> arena = {};
  Work work = {};
  std::int32_t replica = 0;
  RunConstants constants = {};
};

/// Stage -> IPU: bring the weights for a program that will begin soon, if they are not on the IPU.
struct BringWeights {
  StageHandle stage = {};
  std::shared_ptr<Arena> arena = {};
  Work work = {};
  std::int32_t replica = 0;
};

/// Optimizer -> IPU: run a round of a weight update. I send the letter for your answer along,
/// because an update that has begun must not fail for lack of memory.
struct RunUpdate {
  OptimizerHandle optimizer = {};
  std::shared_ptr<WeightUpdate> update = {};
  UpdateOrder order = {};
  std::string subject = {};
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::shared_ptr<Letter<UpdateDone>> answer = {};
};

// ---- the host store ----------------------------------------------------------------------------

enum class HostClass : std::uint8_t { optimizer_state, accumulators, weights, stash };
/// A BlockKey identifies one block of memory that the host store keeps for a stage of a replica.
struct BlockKey {
  HostClass of = HostClass::optimizer_state;
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::int64_t micro_batch = 0;  ///< This is the micro-batch of a stash, and 0 for any other block.

  auto operator<=>(const BlockKey&) const = default;
};

/// Optimizer or stage -> host store: give me the block `key`, and do not keep it any longer.
struct FetchBlock {
  BlockKey key = {};
};

/// Host store -> sender of FetchBlock: the block is yours until you store it again.
struct FetchedBlock {
  std::shared_ptr<std::byte> block = {};
};

/// Optimizer or stage -> host store: keep this block until somebody fetches it.
struct StoreBlock {
  BlockKey key = {};
  std::shared_ptr<std::byte> block = {};
};

// ---- the host's calls --------------------------------------------------------------------------

/// Host -> step -> feed: train or run on these tensors.
struct StepCall {
  std::vector<Tensor> inputs = {};  ///< The tensors are in the order of Plan::inputs.
  std::int64_t first_micro_batch = 0;
  std::int64_t micro_batches = 0;  ///< The call has this many micro-batches per replica.
  /// Once this is asked to stop, no further window, or turn of inference, begins.
  std::stop_token stop = {};
  /// Of these micro-batches, other actors have done the first ones. The actors that get this
  /// message do the others, and the collector has what the first ones have returned. Where `done`
  /// is not 0, `first_micro_batch` is negative: it is the number of the first of all micro-batches.
  std::int64_t done = 0;
};

/// Host -> step -> gate and optimizers: use these rules from the next update on. The optimizers of
/// another process get this message from the part of that process.
struct SetRules {
  std::shared_ptr<const UpdateRules> rules = {};
};

// ---- supervision -------------------------------------------------------------------------------

/// Monitor -> supervisor: say what every actor waits for now. Fill the picture, which we share, as
/// the answers come.
struct ShowWaits {
  std::shared_ptr<WaitPicture> picture = {};
};

// ---- everybody's neighbors ---------------------------------------------------------------------
// Each of these messages tells an actor its neighbors. They are sent once, before the first call,
// because an actor cannot be spawned with handles of actors that do not exist yet.

struct StageLinks {
  DeviceHandle device = {};
  std::vector<StageHandle> stages = {};  ///< These are the stages of the same replica.
  OptimizerHandle optimizer = {};        ///< This is null in inference.
  FeedHandle feed = {};
  StepHandle step = {};
  SupervisorHandle supervisor = {};
  HostStoreHandle host_store = {};  ///< This is null if everything stays on the IPUs.
};

struct FeedLinks {
  std::vector<std::vector<StageHandle>> stages = {};  ///< These are the stages of each replica.
  StepHandle step = {};
};

struct OptimizerLinks {
  DeviceHandle device = {};
  StageHandle stage = {};
  /// These are the optimizers of the same replica, in the order of their stages.
  std::vector<OptimizerHandle> optimizers = {};
  ReducerHandle reducer = {};  ///< This is null if there is only one replica.
  GateHandle gate = {};
  HostStoreHandle host_store = {};  ///< This is null if the optimizer's state stays on the IPU.
  SupervisorHandle supervisor = {};
};

struct ReducerLinks {
  /// These are the optimizers of the reducer's stage, in the order of the replicas.
  std::vector<OptimizerHandle> optimizers = {};
};

struct GateLinks {
  /// The optimizers are in the order of replicas, and then of stages.
  std::vector<OptimizerHandle> optimizers = {};
  SupervisorHandle supervisor = {};
};

struct StepLinks {
  FeedHandle feed = {};
  std::vector<std::vector<StageHandle>> stages = {};  ///< These are the stages of each replica.
  /// These are the optimizers of the host's process.
  std::vector<OptimizerHandle> optimizers = {};
  GateHandle gate = {};  ///< This is null in inference.
  /// These are the parts of the other processes that have stages, by the numbers of the processes.
  std::map<std::int32_t, PartHandle> parts = {};
};

struct PartLinks {
  std::vector<OptimizerHandle> optimizers = {};  ///< These are the optimizers of the process.
  StepHandle step = {};
};

struct SupervisorLinks {
  std::vector<StageHandle> stages = {};
  std::vector<OptimizerHandle> optimizers = {};  ///< This is empty in inference.
  FeedHandle feed = {};
  GateHandle gate = {};  ///< This is null in inference.
};

}  // namespace penstock::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::RunProgram)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::BringWeights)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::RunUpdate)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::FetchBlock)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::FetchedBlock)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StoreBlock)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StepCall)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::SetRules)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::ShowWaits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StageLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::FeedLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::OptimizerLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::ReducerLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::GateLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StepLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::PartLinks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::SupervisorLinks)
