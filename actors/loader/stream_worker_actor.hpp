// The worker of a loader of streams: fills the rows that it is told to from a stream of its own,
// one task at a time, on a thread of its own, since a stream may block.
#pragma once

#include <caf/typed_event_based_actor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/loader/loader_messages.hpp"
#include "actors/loader/loader_watch.hpp"
#include "actors/loader/stream_source.hpp"

namespace penstock::actors {

struct StreamWorkerState {
  static constexpr const char* name = "stream worker";

  StreamWorker::pointer self = nullptr;
  int number = 0;
  std::shared_ptr<const StreamSource> source = {};
  std::shared_ptr<LoaderWatch> watch = {};
  std::optional<std::uint64_t> epoch = {};    // whose stream this is
  NextSample stream = {};                     // none once it has ended or failed
  std::int64_t samples = 0;                   // that it has given
  std::vector<std::byte*> destinations = {};  // of the row being read

  void on_fill_rows(FillRows& message);

 private:
  FillResult fill(const FillTask& task);
  void fill_rows(const FillTask& task, FillResult& result);
  void open(std::uint64_t wanted);
};

StreamWorker::behavior_type stream_worker(StreamWorker::stateful_pointer<StreamWorkerState> self,
                                          int number, std::shared_ptr<const StreamSource> source,
                                          std::shared_ptr<LoaderWatch> watch);

}  // namespace penstock::actors
