#include "actors/update/rounds.hpp"

namespace penstock::actors {

void gather_weights(const RoundRun& run) {
  StageUpdate& update = run.update;
  for (const TrainedVariable& trained : update.trained) {
    if (!trained.sharded) continue;
    ++update.collectives.all_gathers;
    update.collectives.gathered_bytes += bytes_of(trained.elements() - size(trained.share));
    if (update.replica == 0) update.write_copies(trained, run.staging);
    run.staging.beat();
  }
  update.end();
}

}  // namespace penstock::actors
