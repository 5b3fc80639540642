#include "actors/update/rounds.hpp"

namespace penstock::actors {

void reduce_gradients(const RoundRun& run) {
  StageUpdate& update = run.update;
  for (const TrainedVariable& trained : update.trained)
    if (trained.sharded) update.sums.reduce_scatter(trained, run.staging, update.collectives);
  update.sums.add_up_slice(update.replica, {run.runner, update.setup->plan->threads_per_ipu},
                           run.staging);
  update.collectives.all_reduces += update.of_reducer.all_reduces;
  update.collectives.all_reduced_bytes += update.of_reducer.all_reduced_bytes;
}

}  // namespace penstock::actors
