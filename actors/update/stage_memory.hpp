// A StageMemory is where a stage of a replica keeps its weights and, in training, its optimizer's
// state. While no call is under way, and after the actors have ended, the host's thread reads and
// writes this memory. Nothing here uses CAF.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "actors/execution/arena.hpp"
#include "actors/update/weight_update.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

/// A StageMemory of a stage of another process has neither of its members.
struct StageMemory {
  std::shared_ptr<Arena> arena = {};
  std::shared_ptr<WeightUpdate> update = {};  ///< This is null in inference.
};

/// Returns whether the stages of all replicas, which are `stages`, have done the same updates, and
/// none is in the middle of one.
bool have_same_updates(std::span<const StageMemory> stages);
/// Returns copies of the variables of replica number `replica`, in the order of Plan::variables.
/// Those of stages of other processes are empty. `stages` are those of all replicas, which update
/// parts of the same parameters.
/// @throws Error closed if the stages ended in the middle of an update; out_of_memory.
std::vector<Tensor> read_variables(const graph::Plan& plan, std::span<const StageMemory> stages,
                                   std::size_t replica = 0);
/// Overwrites the variables of all replicas, which have `stages`, in this process. `values` are in
/// the order of Plan::variables, and have the plan's types.
void write_variables(std::span<const StageMemory> stages, std::span<const Tensor> values);
/// Overwrites the buffers of the replica that has `stages`. The replicas share all other variables,
/// which stay. `values` are in the order of Plan::variables; those of other variables may be empty.
void write_buffers(std::span<const StageMemory> stages, std::span<const Tensor> values);

/// Returns the optimizer's whole state, which is put together from the shards of the replicas if
/// they divide it. `stages` are those of all replicas, and all in this process.
/// @throws Error as read_variables()
OptimizerTensors read_optimizer(const graph::Plan& plan, std::span<const StageMemory> stages);
/// Overwrites the optimizer's state in all replicas. `state` has the types that the rules ask for.
/// `stages` are those of all replicas, and all in this process.
void write_optimizer(std::span<const StageMemory> stages, const OptimizerTensors& state) noexcept;

}  // namespace penstock::actors
