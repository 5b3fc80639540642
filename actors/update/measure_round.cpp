#include "actors/update/rounds.hpp"

namespace penstock::actors {

void measure_gradients(const RoundRun& run, UpdateNorms& norms) {
  norms.whole.clear();
  const StageUpdate& update = run.update;
  const float scale = update.gradient_scale();
  for (const TrainedVariable& trained : update.trained) {
    if (trained.sharded)
      update.sums.norm_part(trained, scale, run.staging, norms.shards[trained.shard_norm].part);
    else if (update.replica == 0)
      norms.whole.push_back(
          {trained.variable, update.sums.squared_norm(trained, scale, run.staging)});
  }
}

}  // namespace penstock::actors
