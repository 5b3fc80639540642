// What every loop over a loader's batches needs. A model takes the first fields of a batch, as many
// as it has inputs.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/error.hpp"

namespace penstock {

/// All of them, if there are too few: the model says what is missing.
inline std::span<const Tensor> first_fields(const Batch& batch,
                                            const std::vector<std::string>& inputs) {
  return std::span<const Tensor>(batch).first(std::min(batch.size(), inputs.size()));
}

[[noreturn]] inline void refuse_empty(const std::string& who) {
  throw Error(Errc::invalid_data, who + ": expected at least one batch in an epoch of the data");
}

}  // namespace penstock
