// The loader of streams: tells its workers which rows to fill, in turns, and gives complete batches
// to the consumer. Owns its workers, which end with it. To the consumer it is a loader like the
// other one.
#pragma once

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "actors/loader/loader_messages.hpp"
#include "actors/loader/loader_watch.hpp"
#include "actors/loader/stream_core.hpp"
#include "actors/system/actor_system.hpp"

namespace penstock::actors {

struct StreamLoaderState {
  static constexpr const char* name = "stream loader";

  StreamLoaderActor::pointer self = nullptr;
  std::optional<StreamCore> core = {};
  std::vector<StreamWorker> workers = {};
  bool joins = false;  // rows of several workers, when a batch of them is asked for
  caf::typed_response_promise<LoadedBatch> consumer = {};

  void on_start_epoch(const StartEpoch& message);
  caf::typed_response_promise<LoadedBatch> on_take_batch(const TakeBatch& message);
  void on_rows_filled(const RowsFilled& message);

 private:
  /// @param asked just now, so that a batch which is complete was so before
  void advance(bool asked);
  void send_tasks();
};

/// Starts a loader with its workers. With no workers of its own, it reads where it runs, one
/// stream.
StreamLoaderActor spawn_stream_loader(ActorSystem& system,
                                      std::shared_ptr<const StreamSource> source,
                                      const StreamSettings& settings, RunsOn where,
                                      std::shared_ptr<LoaderWatch> watch);

}  // namespace penstock::actors
