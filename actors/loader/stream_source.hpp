// What a loader of streams reads and how: each worker has a stream of its own, whose length shows
// only when it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "actors/loader/loader_source.hpp"

namespace penstock::actors {

/// Writes the stream's next sample to one pointer per field; false at its end. May throw.
using NextSample = std::function<bool(std::span<std::byte* const> destinations)>;

struct StreamSource {
  std::vector<SourceField> fields = {};
  /// A worker's stream for an epoch; called from several threads at once, may throw.
  std::function<NextSample(std::uint64_t epoch, int worker)> open = {};
};

struct StreamSettings {
  std::int64_t batch_rows = 1;
  bool drop_last = true;   ///< leave out the samples that do not fill a batch
  bool rebatched = false;  ///< batches of what all workers read, not of one worker each
  bool ahead = true;       ///< read before a batch is asked for
  int buffered = 1;        ///< how many batches
  int workers = 1;
};

}  // namespace penstock::actors
