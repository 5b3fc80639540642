#include <algorithm>

#include "actors/update/rounds.hpp"
#include "graph/plan/shards.hpp"

namespace penstock::actors {
namespace {

void gather(const RoundRun& run, const TrainedVariable& trained) {
  StageUpdate& update = run.update;
  const auto replicas = update.sums.replicas();
  for (std::int64_t replica = 0; replica < std::ssize(replicas); ++replica) {
    if (replica == update.replica) continue;
    const graph::Part shard = graph::shard_of(trained.elements(), update.setup->replicas, replica);
    const float* const from =
        replicas[static_cast<std::size_t>(replica)]->variable(trained.position).data() +
        shard.begin;
    std::copy_n(from, size(shard), update.weight(trained, shard).data());
    run.staging.beat();
    update.collectives.gathered_bytes += bytes_of(size(shard));
  }
  ++update.collectives.all_gathers;
  update.write_copies(trained, run.staging);
}

}  // namespace

void gather_weights(const RoundRun& run) {
  for (const TrainedVariable& trained : run.update.trained)
    if (trained.divided) gather(run, trained);
  run.update.end();
}

}  // namespace penstock::actors
