// What a loader reads and how: the engine's dataset and options, as the actors see them.
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

/// One tensor of a sample.
struct SourceField {
  DType dtype = DType::f32;
  Shape shape = {};
};

struct LoaderSource {
  std::int64_t samples = 0;
  std::vector<SourceField> fields = {};
  /// Writes a sample to `destinations`, which has one pointer per field. Several threads call it at
  /// once, and it may throw.
  std::function<void(std::int64_t sample, std::uint64_t epoch, const std::stop_token& stop,
                     std::span<std::byte* const> destinations)>
      read = {};
};

struct LoaderSettings {
  std::int64_t batch_rows = 1;
  std::int64_t batches = 0;  ///< per epoch; the last one may have fewer rows
  bool shuffle = false;
  bool ahead = true;  ///< assemble batches before they are asked for
  int buffered = 1;   ///< how many of them
  int workers = 1;    ///< how many threads read; 0 is taken for 1
  std::uint64_t seed = 0;
  OrderPart part = {};  ///< of several loaders; count 1: everything
};

}  // namespace penstock::actors
