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

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::ReadTask)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::ReadResult)

namespace penstock::actors {

using LoaderWorker = caf::typed_actor<
    // Loader: read these rows. The worker alone writes to them, and has let go of the memory by the
    // time it answers. What the source throws is part of the answer.
    caf::replies_to<ReadTask>::with<ReadResult>>;

struct LoaderWorkerState {
  static constexpr const char* name = "loader worker";

  int number = 0;
  std::shared_ptr<const LoaderSource> source = {};
  std::shared_ptr<LoaderWatch> watch = {};
  std::vector<std::byte*> destinations = {};  // of the row being read

  ReadResult on_read(ReadTask& task);

 private:
  std::optional<ReadFailure> read_rows(const ReadTask& task);
  std::optional<ReadFailure> read_row(const ReadTask& task, std::int64_t row);
  void point_to(const BatchBuffer& buffer, std::int64_t row);
};

LoaderWorker::behavior_type loader_worker(LoaderWorker::stateful_pointer<LoaderWorkerState> self,
                                          int number, std::shared_ptr<const LoaderSource> source,
                                          std::shared_ptr<LoaderWatch> watch);

}  // namespace penstock::actors
