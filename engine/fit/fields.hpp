// Which fields of a batch a model takes: the first ones, as many as it has inputs.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"

namespace penstock {

/// All of them, if there are too few: the model says what is missing.
inline std::span<const Tensor> first_fields(const Batch& batch,
                                            const std::vector<std::string>& inputs) {
  return std::span<const Tensor>(batch).first(std::min(batch.size(), inputs.size()));
}

}  // namespace penstock
