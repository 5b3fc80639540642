// IterableDataset: samples that come one after the other, without numbers: a log, a socket, a
// generator. The interface for one's own.
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

/// One worker's part of the samples, for one epoch.
struct WorkerShare {
  int worker = 0;           ///< 0 to workers-1
  int workers = 1;          ///< each has a stream of its own; together they give every sample once
  std::uint64_t epoch = 0;  ///< A loader's first epoch has number 0.
  /// Says when nobody wants the share any more, because the loader is being closed or has begun
  /// another epoch. Whatever can block for long waits for this too, and then returns or throws;
  /// nobody looks at what it has written or thrown. See SampleRequest::stop for its callbacks.
  std::stop_token stop = {};

  /// Give samples [begin(size), end(size)) of `size`, if they are dealt out in blocks of
  /// ceil(size/workers), the last of them shorter.
  std::int64_t begin(std::int64_t size) const noexcept {
    return std::min(size, worker * ((size + workers - 1) / workers));
  }
  /// Returns the number behind the share's last sample.
  std::int64_t end(std::int64_t size) const noexcept {
    return std::min(size, begin(size) + (size + workers - 1) / workers);
  }
};

/// The samples of one share, in their order. The loader's thread that begins a stream is the one
/// that uses it and destroys it.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  /// Writes every element of the next sample to `destinations`, which has one pointer per field;
  /// returns false if there is none, and is not called again then. `stop` is the share's. An
  /// exception that it throws reaches the loader's caller as Error invalid_data with the
  /// exception's text; std::bad_alloc, or an Error out_of_memory, as Error out_of_memory.
  virtual bool next(std::span<std::byte* const> destinations, const std::stop_token& stop) = 0;
};

/// An IterableDataset has samples that come one after the other, without numbers.
class IterableDataset {
 public:
  virtual ~IterableDataset() = default;
  /// Returns the tensors of one sample, in the order in which a batch has them.
  virtual const std::vector<Field>& fields() const = 0;
  /// Returns the number of samples of all shares together, if that is known.
  virtual std::optional<std::int64_t> size() const { return std::nullopt; }
  /// Begins a share. The loader's threads call it, several at once, once per worker and epoch; it
  /// throws as SampleStream::next() does.
  virtual std::unique_ptr<SampleStream> begin(const WorkerShare& share) const = 0;
};

}  // namespace penstock
