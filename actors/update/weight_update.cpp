#include "actors/update/weight_update.hpp"

#include <algorithm>

#include "actors/update/rounds.hpp"

namespace penstock::actors {

WeightUpdate::WeightUpdate(std::shared_ptr<const PipelineSetup> setup, std::size_t stage,
                           std::shared_ptr<Arena> arena, std::shared_ptr<const UpdateRules> rules,
                           std::int64_t replica)
    : stage_(std::move(setup), stage, std::move(arena), std::move(rules), replica) {
  make_room(norms_);
  stage_.state_moves.bytes = state_bytes_in_host_store(stage_);
  stage_.state_moves.padding_bytes = stage_.host_block_bytes - stage_.state_moves.bytes;
}

bool WeightUpdate::reduces() const {
  return gathers() || stage_.of_reducer.all_reduces > 0;
}

bool WeightUpdate::follows() const {
  return std::ranges::any_of(
      stage_.trained, [this](const auto& trained) { return stage_.moves_in_shards(trained); });
}

bool WeightUpdate::gathers() const {
  return std::ranges::any_of(stage_.trained, &TrainedVariable::sharded);
}

// Every round comes at most once in an update, in the order of the enumerators. A round may be left
// out if this stage does nothing in it, and `measure` if gradients are not clipped.
bool WeightUpdate::may_run(const UpdateOrder& order, std::optional<UpdateRound> last_done) const {
  if (last_done && order.round <= *last_done) return false;
  const std::size_t variables = stage_.setup->plan->variables.size();
  if (!order.directions.empty() && order.directions.size() != variables) return false;
  const bool has_sums = last_done || !reduces();
  const bool has_norms = !clips() || last_done >= UpdateRound::measure;
  switch (order.round) {
    case UpdateRound::reduce:
      return true;
    case UpdateRound::measure:
      return has_sums;
    case UpdateRound::follow:
      return has_sums && has_norms;
    case UpdateRound::apply:
      if (follows()) return last_done == UpdateRound::follow && !order.directions.empty();
      return has_sums && has_norms;
    case UpdateRound::gather:
      return last_done == UpdateRound::apply;
  }
  return false;
}

bool WeightUpdate::is_done_after(std::optional<UpdateRound> last_done) const {
  return last_done == UpdateRound::gather || (last_done == UpdateRound::apply && !gathers());
}

void WeightUpdate::set_state(StateBlocks state) {
  stage_.state = std::move(state);
  stage_.all_state = stage_.state;
}

void WeightUpdate::lend_host_state(std::shared_ptr<std::byte> state) {
  stage_.state.in_host_store = std::move(state);
}

std::shared_ptr<std::byte> WeightUpdate::return_host_state() {
  return std::move(stage_.state.in_host_store);
}

void WeightUpdate::restore_state(const OptimizerTensors& tensors) noexcept {
  actors::restore_state(stage_, tensors);
}

std::int64_t WeightUpdate::staging_bytes() const {
  std::int64_t bytes = 0;
  for (const TrainedVariable& trained : stage_.trained)
    bytes = std::max(bytes, graph::update_staging_bytes(stage_.staged(trained)));
  return bytes;
}

bool WeightUpdate::measures(UpdateRound round) const {
  return (round == UpdateRound::measure && clips()) || (round == UpdateRound::follow && follows());
}

void WeightUpdate::make_room(UpdateNorms& norms) const {
  const auto sharded = std::ranges::count_if(stage_.trained, &TrainedVariable::sharded);
  norms.whole.reserve(stage_.trained.size() - static_cast<std::size_t>(sharded));
  norms.shards.resize(static_cast<std::size_t>(sharded));
  for (const TrainedVariable& trained : stage_.trained) {
    if (!trained.sharded) continue;
    ShardNorm& norm = norms.shards[trained.shard_norm];
    norm.variable = trained.variable;
    graph::reserve(norm.part, trained.share, trained.elements());
  }
}

void WeightUpdate::run(const UpdateOrder& order, std::span<std::byte> scratch,
                       graph::PartRunner* runner, graph::Heartbeat* heartbeat) {
  const StagingBuffer staging(scratch, heartbeat);
  const RoundRun round{stage_, staging, runner, order.clip_factor, order.directions};
  if (order.round != UpdateRound::reduce && !stage_.uses_added) add_uses(staging);
  switch (order.round) {
    case UpdateRound::reduce:
      return reduce_gradients(round);
    case UpdateRound::measure:
      return measure_gradients(round, norms_);
    case UpdateRound::follow:
      return follow_gradients(round, norms_);
    case UpdateRound::apply:
      return ApplyRound(round).run();
    case UpdateRound::gather:
      return gather_weights(round);
  }
}

void WeightUpdate::add_uses(const StagingBuffer& staging) {
  for (const TrainedVariable& trained : stage_.trained) stage_.sums.add_uses(trained, staging);
  stage_.uses_added = true;
}

}  // namespace penstock::actors
