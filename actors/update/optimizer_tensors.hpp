// These functions make, copy and replace the optimizer's state of one stage. The host's thread may
// use them while no call is under way, wherever the state is.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/update/stage_update.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

/// A VariableState has the tensors that a rule keeps for one variable, in the order of
/// OptimizerRule::state. The tensors are whole, or have the elements of a replica's share.
struct VariableState {
  std::int32_t variable = 0;  ///< This is the variable's position in Plan::variables.
  std::vector<Tensor> tensors = {};
  /// This is the first element of the tensors, and 0 for whole tensors.
  std::int64_t first_element = 0;
};

/// OptimizerTensors are the whole state of the optimizer.
struct OptimizerTensors {
  std::int64_t updates = 0;  ///< The state has had this many updates.
  /// This has the state tensors of each variable, in the order of Plan::variables.
  std::vector<std::vector<Tensor>> variables = {};
};

/// Returns the optimizer's state of the stage's variables before the first update.
StateBlocks new_state(const StageUpdate& update);
/// Returns copies of what the replica keeps of the tensors. All replicas together keep each element
/// once.
std::vector<VariableState> read_state(const StageUpdate& update);
/// Replaces the state by `tensors`, which are whole and have the right types, and sets the number
/// of updates to `tensors.updates`.
void restore_state(StageUpdate& update, const OptimizerTensors& tensors) noexcept;
/// Returns how many bytes of the state the host store keeps for this replica.
std::int64_t state_bytes_in_host_store(const StageUpdate& update);
/// Returns how many bytes of the state are on the replica's IPU. State that the replicas share
/// counts as a whole for each of them.
std::int64_t state_bytes_on_ipu(const StageUpdate& update);
/// Returns how many of these bytes the replicas share.
std::int64_t shared_state_bytes(const StageUpdate& update);
/// Returns how many more bytes this replica has allocated on the IPU to align the state's tensors.
std::int64_t state_padding_on_ipu(const StageUpdate& update);
/// Returns the block in `state` that has the state of `trained`.
std::byte* block_of(const TrainedVariable& trained, const StateBlocks& state);

}  // namespace penstock::actors
