// A LoaderSource says what a loader reads and how: it is the engine's dataset and options, as the
// actors see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "actors/loader/loader_order.hpp"
#include "penstock/shape.hpp"

namespace penstock::actors {

/// A SourceField describes one tensor of a sample.
struct SourceField {
  DType dtype = DType::f32;
  Shape shape = {};
};

struct LoaderSource {
  std::int64_t samples = 0;
  std::vector<SourceField> fields = {};
  /// This function writes the sample number `sample` to `destinations`, which has one pointer per
  /// field. Several threads may call it at once, and it may throw.
  std::function<void(std::int64_t sample, std::uint64_t epoch, const std::stop_token& stop,
                     std::span<std::byte* const> destinations)>
      read = {};
};

struct LoaderSettings {
  std::int64_t batch_rows = 1;
  /// An epoch has this many batches. The last one may have fewer rows.
  std::int64_t batches = 0;
  bool shuffle = false;
  /// If this is true, batches are assembled before the consumer asks for them, at most `buffered`
  /// at a time.
  bool ahead = true;
  int buffered = 1;
  /// This many threads read. 0 means 1.
  int workers = 1;
  std::uint64_t seed = 0;
  /// If several loaders divide the dataset, this is the partition that this loader reads.
  OrderPartition partition = {};
};

}  // namespace penstock::actors
