// Accuracy: how many samples a network got right.
#pragma once

#include <cstdint>

#include "penstock/tensor.hpp"

namespace trainer {

/// How many rows of `scores` f32 [N,classes] are highest at their label's place; `labels` i64 [N].
/// Of equal scores the first counts.
std::int64_t count_correct(const penstock::Tensor& scores, const penstock::Tensor& labels);

}  // namespace trainer
