// The loader worker: reads the rows it is given into a batch's memory, one task at a time, on a
// thread of its own, since a dataset may block.
#pragma once

#include <caf/typed_event_based_actor.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "actors/loader/loader_messages.hpp"
#include "actors/loader/loader_source.hpp"
#include "actors/loader/loader_watch.hpp"

namespace penstock::actors {

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
};

LoaderWorker::behavior_type loader_worker(LoaderWorker::stateful_pointer<LoaderWorkerState> self,
                                          int number, std::shared_ptr<const LoaderSource> source,
                                          std::shared_ptr<LoaderWatch> watch);

}  // namespace penstock::actors
