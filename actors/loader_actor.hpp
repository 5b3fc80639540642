// The loader actor: hands rows to its workers and complete batches to the consumer, in the epoch's
// order, never further ahead than its settings allow. Owns its workers, which end with it.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "actors/actor_system.hpp"
#include "actors/loader_core.hpp"
#include "actors/loader_watch.hpp"
#include "actors/loader_worker_actor.hpp"

namespace penstock::actors {

/// Assemble the batches of this epoch from now on.
struct StartEpoch {
  std::uint64_t epoch = 0;
};

/// The consumer wants this batch of the epoch, and is done with those before it.
struct TakeBatch {
  std::int64_t batch = 0;
};

}  // namespace penstock::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::StartEpoch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::TakeBatch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::LoadedBatch)

namespace penstock::actors {

using LoaderActor = RowsReader::extend<
    // Consumer: whatever the last epoch still had to give is dropped.
    caf::reacts_to<StartEpoch>,
    // Consumer: answered once the batch is complete. Asking again for the same one gives it again,
    // so that an answer which came too late is not lost. The memory is the consumer's until it
    // drops the tensors. An unreadable sample is Error invalid_data, until the next epoch.
    caf::replies_to<TakeBatch>::with<LoadedBatch>>;

struct LoaderActorState {
  static constexpr const char* name = "loader";

  LoaderActor::pointer self = nullptr;
  std::optional<LoaderCore> core = {};
  std::vector<LoaderWorker> workers = {};
  std::vector<int> idle = {};  // positions in `workers`
  caf::typed_response_promise<LoadedBatch> consumer = {};

  void on_start_epoch(const StartEpoch& message);
  caf::typed_response_promise<LoadedBatch> on_take_batch(const TakeBatch& message);
  void on_rows_read(const RowsRead& read);

 private:
  void advance();
  void deliver(LoadedBatch batch);
};

/// Starts a loader with its workers. With no workers of its own, it reads where it runs.
LoaderActor spawn_loader(ActorSystem& system, std::shared_ptr<const LoaderSource> source,
                         const LoaderSettings& settings, std::shared_ptr<LoaderWatch> watch);

}  // namespace penstock::actors
