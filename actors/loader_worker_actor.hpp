// The loader worker: reads the rows it is given into a batch's memory, one task at a time, on a
// thread of its own, since a dataset may block.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <memory>

#include "actors/loader_core.hpp"
#include "actors/loader_source.hpp"
#include "actors/loader_watch.hpp"

namespace penstock::actors {

/// What has become of a worker's task.
struct RowsRead {
  int worker = 0;
  ReadResult result = {};
};

}  // namespace penstock::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::RowsRead)

namespace penstock::actors {

using RowsReader = caf::typed_actor<
    // Worker: the task is done, and the worker has let go of its memory. What the source threw is
    // part of the result.
    caf::reacts_to<RowsRead>>;

struct ReadRows {
  RowsReader reader;  ///< told when it is done, however long the source takes
  ReadTask task = {};
};

}  // namespace penstock::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::ReadRows)

namespace penstock::actors {

using LoaderWorker = caf::typed_actor<
    // Loader: read these rows. The worker alone writes to them.
    caf::reacts_to<ReadRows>>;

struct LoaderWorkerState {
  static constexpr const char* name = "loader worker";

  LoaderWorker::pointer self = nullptr;
  int number = 0;
  std::shared_ptr<const LoaderSource> source = {};
  std::shared_ptr<LoaderWatch> watch = {};
  std::vector<std::byte*> destinations = {};  // of the row being read

  void on_read_rows(ReadRows& message);

 private:
  ReadResult read(const ReadTask& task);
  std::optional<ReadFailure> read_rows(const ReadTask& task);
  std::optional<ReadFailure> read_row(const ReadTask& task, std::int64_t row);
  void point_to(const BatchBuffer& buffer, std::int64_t row);
};

LoaderWorker::behavior_type loader_worker(LoaderWorker::stateful_pointer<LoaderWorkerState> self,
                                          int number, std::shared_ptr<const LoaderSource> source,
                                          std::shared_ptr<LoaderWatch> watch);

}  // namespace penstock::actors
