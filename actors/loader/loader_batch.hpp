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
  std::string text = {};  ///< Is empty if there was no memory for a text.
  Errc code = Errc::invalid_data;
};

/// Holds the tensors of a complete batch, or the reason why there are none.
struct LoadedBatch {
  std::vector<Tensor> tensors = {};
  std::optional<LoadFailure> failure = {};
  /// Says that there is no batch because the streams of the epoch have no more samples for one.
  bool ended = false;
  /// Counts the samples that streams gave in this epoch and that are in no batch.
  std::int64_t dropped = 0;
  /// Says whether the batch was complete when it was asked for.
  bool ready = false;
};

}  // namespace penstock::actors
