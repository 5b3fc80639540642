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

/// A sum over some samples, or over whatever else is counted, and how many they are.
struct Score {
  double sum = 0;          ///< This is the sum of what was counted.
  std::int64_t count = 0;  ///< So many were counted.

  /// Adds sum to sum and count to count.
  Score& operator+=(const Score& other) noexcept;
  /// Returns nan if nothing was counted.
  double mean() const noexcept;
};

/// A Metric is a number that a training or a test tells of its outputs.
struct Metric {
  std::string name;  ///< This is its name in the records of fit() and evaluate().
  /// Is called after each call of the model, with what that has returned and the batch that it was
  /// given, and returns the score of these samples. It may not be empty.
  std::function<Score(const StepResult& result, const Batch& batch)> score;
  /// Is called before the first call of the model, with TrainingModel::outline() or
  /// InferenceModel::outline(), and throws if such a model's calls do not return what `score`
  /// needs. If it is empty, nothing is checked, and `score` meets what is missing after the first
  /// call.
  std::function<void(const StepResult& outline)> check = {};
};

/// Returns how many rows of `scores`, f32 [N,classes], have their highest score at the row's label,
/// which `labels`, i64 [M], says. Of equal scores the first one is the highest. Where there are
/// fewer scores than labels, as OutputMode::final returns them, they belong to the last N labels.
/// @throws Error shape_mismatch for other tensors.
std::int64_t count_correct(const Tensor& scores, const Tensor& labels);

/// Returns a metric: the share of the samples, of those that the output mode returns, whose score
/// is highest at their label. The scores, [N,classes], are the output `output`; the labels are the
/// batch's last field.
/// The metric's check throws Error invalid_argument if there is no such output, under
/// OutputMode::sum, which returns the scores of no sample, and for input groups of replicas, which
/// return each score several times.
Metric accuracy(const std::string& output);

/// Returns a metric that has the output's name: the mean of the elements of `output`, f32 of any
/// shape. With Model::output("loss", loss), for example, it tells the loss of inference as well,
/// which has no loss of its own. A number for a whole micro-batch counts once for each sample of
/// it, and micro-batches of a short step or run may have fewer: so the mean of means over
/// micro-batches is the mean over all samples, and the mean of sums over micro-batches is the mean,
/// over samples, of the sum that each sample is part of. What OutputMode::sum adds up is divided by
/// the number of micro-batches. The metric's check throws Error invalid_argument if there is no
/// such output.
Metric mean_of(const std::string& output);

}  // namespace penstock
