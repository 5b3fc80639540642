// The loader actor: hands rows to its workers and complete batches to the consumer, in the epoch's
// order, never further ahead than its settings allow. Owns its workers, which end with it.
#pragma once

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "actors/loader/loader_core.hpp"
#include "actors/loader/loader_messages.hpp"
#include "actors/loader/loader_watch.hpp"
#include "actors/system/actor_system.hpp"

namespace penstock::actors {

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
  /// @param asked just now, so that a batch which is complete was so before
  void advance(bool asked);
  void deliver(bool asked);
  void send_tasks();
};

/// Starts a loader with its workers. With no workers of its own, it reads where it runs.
LoaderActor spawn_loader(ActorSystem& system, std::shared_ptr<const LoaderSource> source,
                         const LoaderSettings& settings, std::shared_ptr<LoaderWatch> watch);

}  // namespace penstock::actors
