// These messages of a running model never leave its process, because they hold its memory, its code
// or handles of its actors. The comment on a message begins with sender -> receiver, and then has
// the sender's words.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
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
/// the program needs have been lent. The IPU first brings the stage's weights to its room for
/// weights, unless they are still there.
struct RunProgram {
  StageHandle stage = {};
  std::shared_ptr<Arena> arena = {};
  Work work = {};
  std::int32_t replica = 0;
  RunConstants constants = {};
};

/// Stage -> IPU: bring the weights for a program that will begin soon, if they are not there.
struct BringWeights {
  StageHandle stage = {};
  std::shared_ptr<Arena> arena = {};
  Work work = {};
  std::int32_t replica = 0;
};

/// Optimizer -> IPU: run a round of a weight update. The letter for the answer comes with the
/// message, because an update that has begun must not fail for lack of memory.
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
/// Names one block of memory that the host store keeps for a stage of a replica.
struct BlockKey {
  HostClass of = HostClass::optimizer_state;
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::int64_t micro_batch = 0;  ///< Is the micro-batch of a stash; 0 for any other block.

  auto operator<=>(const BlockKey&) const = default;
};

/// Optimizer or stage -> host store: give me the block `key`, and keep it no longer.
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
  std::vector<Tensor> inputs = {};  ///< Has the tensors in the order of Plan::inputs.
  std::int64_t first_micro_batch = 0;
  std::int64_t micro_batches = 0;  ///< Counts the call's micro-batches of one replica.
  /// Says when no further window, or turn of inference, is to begin.
  std::stop_token stop = {};
};

/// Host -> step -> optimizers and gate: use these rules from the next update on.
struct SetRules {
  std::shared_ptr<const UpdateRules> rules = {};
};

// ---- supervision -------------------------------------------------------------------------------

/// Monitor -> supervisor: say what every actor waits for now. The picture, which sender and
/// receiver share, is filled as the answers come.
struct ShowWaits {
  std::shared_ptr<WaitPicture> picture = {};
};

// ---- everybody's neighbors ---------------------------------------------------------------------
// These messages are sent once, before the first call, because an actor cannot be spawned with
// handles of actors that do not exist yet.

struct StageLinks {
  DeviceHandle device = {};
  std::vector<StageHandle> stages = {};  ///< Has the stages of the same replica.
  OptimizerHandle optimizer = {};        ///< Is null in inference.
  FeedHandle feed = {};
  StepHandle step = {};
  SupervisorHandle supervisor = {};
  HostStoreHandle host_store = {};  ///< Is null if everything stays on the IPUs.
};

struct FeedLinks {
  std::vector<std::vector<StageHandle>> stages = {};  ///< Is numbered by replica, then by stage.
  StepHandle step = {};
};

struct OptimizerLinks {
  DeviceHandle device = {};
  StageHandle stage = {};
  /// Has the optimizers of the same replica, by stage.
  std::vector<OptimizerHandle> optimizers = {};
  ReducerHandle reducer = {};  ///< Is null for a single replica.
  GateHandle gate = {};
  HostStoreHandle host_store = {};  ///< Is null if state stays on the IPU.
  SupervisorHandle supervisor = {};
};

struct ReducerLinks {
  /// Has the optimizers of the reducer's stage, by replica.
  std::vector<OptimizerHandle> optimizers = {};
};

struct GateLinks {
  /// Has the optimizers replica by replica, then by stage.
  std::vector<OptimizerHandle> optimizers = {};
  SupervisorHandle supervisor = {};
};

struct StepLinks {
  FeedHandle feed = {};
  std::vector<std::vector<StageHandle>> stages = {};  ///< Is numbered by replica, then by stage.
  std::vector<OptimizerHandle> optimizers = {};       ///< Is empty in inference.
  GateHandle gate = {};                               ///< Is null in inference.
};

struct SupervisorLinks {
  std::vector<StageHandle> stages = {};
  std::vector<OptimizerHandle> optimizers = {};  ///< Is empty in inference.
  FeedHandle feed = {};
  GateHandle gate = {};  ///< Is null in inference.
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
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::SupervisorLinks)
