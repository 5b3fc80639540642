// The loader's actor hands tasks to its readers and gives complete batches to the consumer in the
// epoch's order. It reads no further ahead than its settings allow. There is such an actor for each
// kind of source: one uses LoaderCore for samples that have numbers, and the other uses StreamCore
// for streams. Its handlers throw nothing and never block.
#pragma once

#include <caf/typed_event_based_actor.hpp>
#include <memory>
#include <vector>

#include "actors/loader/batch_port.hpp"
#include "actors/loader/loader_messages.hpp"
#include "actors/loader/reader_job.hpp"
#include "actors/loader/reader_mail.hpp"
#include "actors/loader/row_reader.hpp"
#include "actors/loader/stream_reader.hpp"
#include "actors/system/actor_system.hpp"

namespace penstock::actors {

/// LoaderLinks connect a loader's actor with its consumer and its readers.
struct LoaderLinks {
  /// The consumer takes its batches from this port.
  std::shared_ptr<BatchPort> port = {};
  /// This brings the readers' results to the actor. spawn_loader() opens it.
  std::shared_ptr<ReaderMail> mail = {};
  /// This runs the readers' jobs. It outlives the actor.
  ReaderPool* pool = nullptr;
};

/// Starts a loader's actor whose `readers` read the samples of `source`.
LoaderActor spawn_loader(ActorSystem& system, const LoaderSource& source,
                         const LoaderSettings& settings, const LoaderLinks& links,
                         std::vector<std::shared_ptr<RowReader>> readers);

/// Starts a loader's actor whose `readers` read the streams of `source`. There is one reader for
/// each worker in `settings`.
StreamLoaderActor spawn_loader(ActorSystem& system, const StreamSource& source,
                               const StreamSettings& settings, const LoaderLinks& links,
                               std::vector<std::shared_ptr<StreamReader>> readers);

}  // namespace penstock::actors
