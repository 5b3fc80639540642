// The loader's actor hands tasks to its readers and gives complete batches to the consumer, in the
// epoch's order, never further ahead than its settings allow. One actor serves both kinds of
// sources, with LoaderCore for samples that have numbers and StreamCore for streams. Its handlers
// throw nothing and never block.
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

/// Connects a loader's actor with those for whom it works and those who work for it.
struct LoaderLinks {
  /// The consumer takes its batches from this port.
  std::shared_ptr<BatchPort> port = {};
  /// The readers send their results by this mail. spawn_loader() opens it.
  std::shared_ptr<ReaderMail> mail = {};
  /// The pool runs the readers' jobs. It outlives the actor.
  ReaderPool* pool = nullptr;
};

/// Starts a loader of the source's samples, which these readers read.
LoaderActor spawn_loader(ActorSystem& system, const LoaderSource& source,
                         const LoaderSettings& settings, const LoaderLinks& links,
                         std::vector<std::shared_ptr<RowReader>> readers);

/// Starts a loader of streams with these readers, as many as the settings have workers.
StreamLoaderActor spawn_loader(ActorSystem& system, const StreamSource& source,
                               const StreamSettings& settings, const LoaderLinks& links,
                               std::vector<std::shared_ptr<StreamReader>> readers);

}  // namespace penstock::actors
