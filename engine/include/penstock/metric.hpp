// Metrics: what a training or a test says of its outputs in one number, the mean over samples. To
// be given to fit() and evaluate(); anybody may write one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "penstock/data_loader.hpp"
#include "penstock/tensor.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// What some samples, or whatever is counted, come to together.
struct Score {
  double sum = 0;
  std::int64_t count = 0;

  Score& operator+=(const Score& other) noexcept;
  /// Returns nan if nothing was counted.
  double mean() const noexcept;
};

struct Metric {
  std::string name;
  /// Of one call: of what it returned for which batch.
  std::function<Score(const StepResult& result, const Batch& batch)> score;
  /// Asked before the first call, with TrainingModel::outline() or InferenceModel's: throws if such
  /// calls don't return what the score is of. Empty: whatever is missing shows at the first call.
  std::function<void(const StepResult& outline)> check = {};
};

/// How many rows of `scores` f32 [N,classes] are highest at their label's place, `labels` i64 [M].
/// Of equal scores the first counts. Where there are fewer scores than labels, as OutputMode::final
/// returns them, they belong to the last N labels. @throws Error shape_mismatch for other tensors.
std::int64_t count_correct(const Tensor& scores, const Tensor& labels);

/// The share of samples whose score is highest at their label: of the scores [N,classes] in
/// `output`, and the labels that are the batch's last field; of the samples that the output mode
/// returns. @throws Error invalid_argument, before the first call, if there is no such output,
/// under OutputMode::sum, which returns those of none, and for input groups of replicas, which
/// return them several times.
Metric accuracy(const std::string& output);

/// The mean of an output's elements, f32 of any shape, under the output's name. Of
/// Model::output("loss", loss), say: inference, which has no loss of its own, then tells it too. A
/// number for a whole micro-batch counts once for each of its samples, which may be fewer in a
/// short step or run: a mean over them stays one; of sums it is the mean, over samples, of the sum
/// that each is part of. What OutputMode::sum adds up is divided by the number of micro-batches.
/// @throws Error invalid_argument, before the first call, if there is no such output.
Metric mean_of(const std::string& output);

}  // namespace penstock
