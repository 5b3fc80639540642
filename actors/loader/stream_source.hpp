// A StreamSource says what a loader of streams reads and how. Each worker has a stream of its own,
// and nobody knows the length of a stream before its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "actors/loader/loader_source.hpp"

namespace penstock::actors {

/// A NextSample writes the stream's next sample to `destinations`, which has one pointer per field,
/// or returns false at the stream's end. It may throw.
using NextSample =
    std::function<bool(std::span<std::byte* const> destinations, const std::stop_token& stop)>;

struct StreamSource {
  std::vector<SourceField> fields = {};
  /// This function opens the stream of worker number `worker` for epoch number `epoch`. Several
  /// threads may call it at once, and it may throw.
  std::function<NextSample(int worker, std::uint64_t epoch, const std::stop_token& stop)> open = {};
};

struct StreamSettings {
  std::int64_t batch_rows = 1;
  /// If this is true, samples that do not fill a batch are left out.
  bool drop_last = true;
  /// If this is true, a batch has samples of all workers. Otherwise each batch has samples of only
  /// one worker.
  bool rebatched = false;
  /// If this is true, samples are read before the consumer asks for their batch, for at most
  /// `buffered` batches at a time.
  bool ahead = true;
  int buffered = 1;
  int workers = 1;
};

}  // namespace penstock::actors
