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

/// Describes one worker's part of the samples in one epoch.
struct WorkerShare {
  int worker = 0;  ///< Numbers the worker, from 0 to `workers` - 1.
  /// Each worker has a stream of its own; together the streams give every sample once.
  int workers = 1;
  std::uint64_t epoch = 0;  ///< Numbers the epoch; a loader's first epoch is 0.
  /// Is requested when nobody wants the share any more, because the loader is being closed or has
  /// begun another epoch. Code that can block for long waits for this token, too, and returns or
  /// throws once it is requested; nobody looks at what it has written or thrown.
  /// SampleRequest::stop says where callbacks of the token run.
  std::stop_token stop = {};

  /// Returns the number of the share's first sample if a dataset of `size` samples deals them out
  /// in blocks of ceil(size/workers), the last of which is shorter. The share is [begin(size),
  /// end(size)).
  std::int64_t begin(std::int64_t size) const noexcept {
    return std::min(size, worker * ((size + workers - 1) / workers));
  }
  /// Returns the number after that of the share's last sample.
  std::int64_t end(std::int64_t size) const noexcept {
    return std::min(size, begin(size) + (size + workers - 1) / workers);
  }
};

/// Gives the samples of one share in their order. One thread of the loader begins, uses and
/// destroys a stream.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  /// Writes all elements of the next sample to `destinations`, which has one pointer per field, and
  /// returns true; or returns false if there is no further sample, and is not called again then.
  /// `stop` is WorkerShare::stop. If it throws, the loader's caller gets Error invalid_data with
  /// the exception's text; for std::bad_alloc and Error out_of_memory the caller gets Error
  /// out_of_memory.
  virtual bool next(std::span<std::byte* const> destinations, const std::stop_token& stop) = 0;
};

/// Has samples that come one after the other and have no numbers.
class IterableDataset {
 public:
  virtual ~IterableDataset() = default;
  /// Returns the fields of a sample, in the order in which a batch has them.
  virtual const std::vector<Field>& fields() const = 0;
  /// Returns the number of samples in all shares together, if it is known.
  virtual std::optional<std::int64_t> size() const { return std::nullopt; }
  /// Begins the stream of a share. The loader's threads call it, several at once, once per worker
  /// and epoch. What it throws is handled like an exception of SampleStream::next().
  virtual std::unique_ptr<SampleStream> begin(const WorkerShare& share) const = 0;
};

}  // namespace penstock
