// What a loader's consumer is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

struct LoadFailure {
  std::string text = {};  ///< empty if there was no memory for one
  Errc code = Errc::invalid_data;
};

/// A batch that every worker is done with: tensors, or why there are none.
struct LoadedBatch {
  std::vector<Tensor> tensors = {};
  std::optional<LoadFailure> failure = {};
  bool ended = false;        ///< of streams: the epoch has no more batches, this is none
  std::int64_t dropped = 0;  ///< of streams: samples read in this epoch that are in no batch
  bool ready = false;        ///< it was there when it was asked for
};

}  // namespace penstock::actors
