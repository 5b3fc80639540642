// The loader of streams: tells its readers which rows to fill, in turns, and gives complete batches
// to the consumer. To the consumer it is a loader like the other one. Its handlers throw nothing
// and never block.
#pragma once

#include <caf/typed_event_based_actor.hpp>
#include <memory>
#include <vector>

#include "actors/loader/batch_desk.hpp"
#include "actors/loader/loader_actor.hpp"
#include "actors/loader/loader_messages.hpp"
#include "actors/loader/stream_reader.hpp"
#include "actors/system/actor_system.hpp"

namespace penstock::actors {

struct StreamLoaderState {
  static constexpr const char* name = "stream loader";

  LoaderLinks links = {};
  std::shared_ptr<BatchDesk<StreamCore>> desk = {};
  std::vector<std::shared_ptr<StreamReader>> readers = {};
  bool joins = false;  // rows of several readers, when a batch of them is asked for

  StreamLoaderState() = default;
  StreamLoaderState(const StreamLoaderState&) = delete;
  StreamLoaderState& operator=(const StreamLoaderState&) = delete;
  ~StreamLoaderState();

  void on_start_epoch(const StartEpoch& message) noexcept;
  void on_take_batch(const TakeBatch& message) noexcept;
  void on_rows_filled(RowsFilled& message) noexcept;

 private:
  void advance(bool ready) noexcept;
  void hand_out();
};

/// Starts a loader with these readers, as many as the settings have workers.
StreamLoaderActor spawn_stream_loader(ActorSystem& system, const StreamSource& source,
                                      const StreamSettings& settings, const LoaderLinks& links,
                                      std::vector<std::shared_ptr<StreamReader>> readers);

}  // namespace penstock::actors
