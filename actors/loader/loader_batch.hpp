// A LoadedBatch is what a loader gives its consumer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

struct LoadFailure {
  std::string text = {};  ///< This is empty if there was no memory for a text.
  Errc code = Errc::invalid_data;
};

/// A LoadedBatch has the tensors of a complete batch, or says why there is no batch.
struct LoadedBatch {
  std::vector<Tensor> tensors = {};
  std::optional<LoadFailure> failure = {};
  /// If this is true, there is no batch because the streams of the epoch have no more samples for
  /// one.
  bool ended = false;
  /// The streams have given this many samples in this epoch that are in no batch.
  std::int64_t dropped = 0;
  /// This is true if the batch was complete when the consumer asked for it.
  bool ready = false;
};

}  // namespace penstock::actors
