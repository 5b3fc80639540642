// The loader actor: hands rows to its readers and complete batches to the consumer, in the epoch's
// order, never further ahead than its settings allow. Its handlers throw nothing and never block.
#pragma once

#include <caf/typed_event_based_actor.hpp>
#include <memory>
#include <vector>

#include "actors/loader/batch_desk.hpp"
#include "actors/loader/loader_messages.hpp"
#include "actors/loader/reader_job.hpp"
#include "actors/loader/reader_mail.hpp"
#include "actors/loader/row_reader.hpp"
#include "actors/system/actor_system.hpp"

namespace penstock::actors {

/// What connects a loader's actor with those whom it works for and those who work for it.
struct LoaderLinks {
  /// The consumer takes its batches from this port.
  std::shared_ptr<BatchPort> port = {};
  /// The readers send their results by this mail. spawn_loader() opens it.
  std::shared_ptr<ReaderMail> mail = {};
  /// The pool runs the readers' jobs. It outlives the actor.
  ReaderPool* pool = nullptr;
};

struct LoaderActorState {
  static constexpr const char* name = "loader";

  LoaderLinks links = {};
  std::shared_ptr<BatchDesk<LoaderCore>> desk = {};
  std::vector<std::shared_ptr<RowReader>> readers = {};
  std::vector<int> idle = {};  // positions in `readers`, for all of which it has room

  LoaderActorState() = default;
  LoaderActorState(const LoaderActorState&) = delete;
  LoaderActorState& operator=(const LoaderActorState&) = delete;
  ~LoaderActorState();

  void on_start_epoch(const StartEpoch& message) noexcept;
  void on_take_batch(const TakeBatch& message) noexcept;
  void on_rows_read(RowsRead& message) noexcept;

 private:
  void advance(bool ready) noexcept;
  void hand_out();
};

/// Starts a loader of the source's samples, which these readers read.
LoaderActor spawn_loader(ActorSystem& system, const LoaderSource& source,
                         const LoaderSettings& settings, const LoaderLinks& links,
                         std::vector<std::shared_ptr<RowReader>> readers);

}  // namespace penstock::actors
