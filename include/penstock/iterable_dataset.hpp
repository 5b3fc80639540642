// An IterableDataset has samples that come one after the other and have no numbers, such as those
// of a log, a socket or a generator. This header has the interface for such datasets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "penstock/dataset.hpp"

namespace penstock {

/// A WorkerInfo says which of the samples of one epoch a worker reads.
struct WorkerInfo {
  int index = 0;  ///< `index` is the number of the worker, from 0 to `count` - 1.
  /// There are this many workers, each with a stream of its own; together the streams give every
  /// sample once.
  int count = 1;
  std::uint64_t epoch = 0;  ///< `epoch` is the number of the epoch; a loader's first epoch is 0.
  /// `stop` is requested when nobody wants the samples any more, because the loader is being closed
  /// or has begun another epoch. Code that can block for long waits for this token, too, and
  /// returns or throws once it is requested; nobody looks at what it has written or thrown.
  /// SampleRequest::stop says where callbacks of the token run.
  std::stop_token stop = {};

  /// Returns the number of the worker's first sample if a dataset of `size` samples deals them out
  /// in blocks of ceil(size/count) samples, the last of which may be shorter or empty. The worker
  /// reads the samples [begin(size), end(size)).
  std::int64_t begin(std::int64_t size) const noexcept {
    return std::min(size, index * ((size + count - 1) / count));
  }
  /// Returns the number behind that of the worker's last sample; see begin().
  std::int64_t end(std::int64_t size) const noexcept {
    return std::min(size, begin(size) + (size + count - 1) / count);
  }
};

/// A SampleStream gives the samples of one worker in their order. One thread of the loader begins,
/// uses and destroys a stream.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  /// Writes all elements of the next sample to `destinations`, which has one pointer per field, and
  /// returns true. If there is no further sample, it returns false and is not called again. `stop`
  /// is WorkerInfo::stop. If the function throws, the loader's caller gets Error invalid_data with
  /// the exception's text; for std::bad_alloc and Error out_of_memory the caller gets Error
  /// out_of_memory.
  virtual bool next(std::span<std::byte* const> destinations, const std::stop_token& stop) = 0;
};

/// An IterableDataset has samples that come one after the other and have no numbers.
class IterableDataset {
 public:
  virtual ~IterableDataset() = default;
  /// Returns the fields of a sample, in the order in which a batch has them.
  virtual const std::vector<Field>& fields() const = 0;
  /// Returns the number of samples in the streams of all workers together, or nothing if it is not
  /// known.
  virtual std::optional<std::int64_t> size() const { return std::nullopt; }
  /// Begins the stream of a worker. The loader's threads call this function once per worker and
  /// epoch, several threads at once. What the function throws is handled like an exception of
  /// SampleStream::next().
  virtual std::unique_ptr<SampleStream> begin(const WorkerInfo& worker) const = 0;
};

}  // namespace penstock
