// A StreamReader fills rows from a stream of its own, and opens a new stream for each epoch. Only
// one thread uses the reader, so that all calls of a stream come from the same thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "actors/loader/loader_watch.hpp"
#include "actors/loader/reader_job.hpp"
#include "actors/loader/stream_core.hpp"
#include "actors/loader/stream_source.hpp"

namespace penstock::actors {

class StreamReader : public Reader {
 public:
  /// Makes the reader of worker number `number`; workers are counted from 0.
  StreamReader(int number, std::shared_ptr<const StreamSource> source,
               std::shared_ptr<LoaderWatch> watch);

  /// Fills the rows of `task` until the stream ends, or until the task's epoch is no longer wanted.
  /// If the stream throws, it ends, and the result has the failure.
  FillResult fill(const FillTask& task) noexcept;
  void end() noexcept override;

 private:
  void fill_rows(const FillTask& task, const std::stop_token& stop, FillResult& result) noexcept;
  void open(std::uint64_t epoch, const std::stop_token& stop);

  int number_;
  std::shared_ptr<const StreamSource> source_;
  std::shared_ptr<LoaderWatch> watch_;
  std::optional<std::uint64_t> epoch_;  // This is the number of the stream's epoch.
  NextSample stream_;                   // This is empty once the stream has ended or failed.
  std::int64_t samples_ = 0;            // The stream has given this many samples.
  // This has, for each field, the address to which the row that is being read is written.
  std::vector<std::byte*> destinations_;
};

}  // namespace penstock::actors
