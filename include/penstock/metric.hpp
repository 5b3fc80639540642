// A Metric is a number that a training or an evaluation computes from a model's outputs: a mean
// over samples, or a number that is computed from what was counted over all samples. Hosts pass
// metrics to fit() and evaluate(), and may write their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "penstock/data_loader.hpp"
#include "penstock/saved_state.hpp"
#include "penstock/tensor.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// A Score is the sum of a number over samples, or over other things that are counted.
struct Score {
  double sum = 0;  ///< `sum` is the sum over what was counted.
  /// `count` is the number of samples, or of other things, that were counted.
  std::int64_t count = 0;

  /// Adds the sum and the count of `other`.
  Score& operator+=(const Score& other) noexcept;
  /// Returns sum / count. If nothing was counted, the result is nan if the sum is 0, as it should
  /// be, and infinite otherwise.
  double mean() const noexcept;
};

/// A MetricState accumulates what a metric is computed from that is no mean over samples, such as a
/// confusion matrix. It is used by one thread at a time.
class MetricState {
 public:
  virtual ~MetricState() = default;
  /// Counts the samples of one call of the model: `result` is what the call has returned, and
  /// `batch` is the batch that the model was given.
  virtual void add(const StepResult& result, const Batch& batch) = 0;
  /// Counts the samples that `other` has counted, as if they had been added here behind all others.
  /// `other` comes from the same Metric::start.
  virtual void merge(const MetricState& other) = 0;
  /// Returns the value of the metric for all samples that were counted, or nan if it has none.
  virtual double value() const = 0;
  /// Returns all that was counted, for a checkpoint. @throws Error unsupported unless the class
  /// overrides the function.
  virtual SavedState save() const;
  /// Takes over what save() of another state of the same metric has returned. Nothing was counted
  /// here yet. @throws Error unsupported unless the class overrides the function; invalid_data if
  /// `saved` is something else.
  virtual void load(const SavedState& saved);
};

/// A Metric is a number that a training or an evaluation computes from a model's outputs. Either
/// `score` or `start` is set.
struct Metric {
  std::string name;  ///< `name` is the name of the metric in the records of fit() and evaluate().
  /// `score` is for a mean. It is called after each call of the model, with what the call has
  /// returned and the batch that the model was given, and returns the score of these samples.
  std::function<Score(const StepResult& result, const Batch& batch)> score = {};
  /// `check` is called before the first call of the model, with TrainingModel::outline() or
  /// InferenceModel::outline(). It throws if calls of such a model do not return what the metric
  /// needs. If `check` is empty, nothing is checked beforehand, and `score` or MetricState::add()
  /// has to deal with what is missing.
  std::function<void(const StepResult& outline)> check = {};
  /// `start` is for a number that is no mean. It returns a state that has counted nothing yet.
  /// fit() makes a state for each step and one for each epoch, into which it merges those of the
  /// steps; evaluate() makes one state, to which it adds all runs. If fit() saves checkpoints, the
  /// state has to override MetricState::save() and MetricState::load().
  std::function<std::unique_ptr<MetricState>()> start = {};
};

/// Returns how many rows of `scores`, f32 [N,classes], have their highest score at the row's label
/// in `labels`, [M] of type i64, i32 or u8. If several scores are equal, the first one counts as
/// the highest. If there are fewer scores than labels, as with OutputMode::final, the scores belong
/// to the last N labels.
/// @throws Error shape_mismatch for tensors of other types or shapes.
std::int64_t count_correct(const Tensor& scores, const Tensor& labels);

/// Returns a metric that is the share of samples whose highest score is at their label, counted
/// over the samples that the output mode returns. The scores, [N,classes], are the output called
/// `output`; the labels are the last field of the batch. The metric's check throws Error
/// invalid_argument if there is no such output, under OutputMode::sum, which does not return the
/// scores of single samples, and for input groups of replicas, which return each score several
/// times.
Metric accuracy(const std::string& output);
/// Returns the metric that the other accuracy() returns, for batches whose labels are field number
/// `labels`, counted from 0. The metric's score throws Error invalid_argument if a batch has no
/// such field.
Metric accuracy(const std::string& output, std::size_t labels);

/// Returns a metric that has the name of an output and is the mean of the output's elements, f32 of
/// any shape. With Model::output("loss", loss), for example, it gives the loss of inference, which
/// has no loss of its own. If the output is one number per micro-batch, that number counts once for
/// each sample of the micro-batch, because micro-batches of a short step or run may have fewer
/// samples: means over micro-batches thus give the mean over all samples, and sums over
/// micro-batches give the mean, over samples, of the sum that each sample is part of. What
/// OutputMode::sum adds up is divided by the number of micro-batches. The metric's check throws
/// Error invalid_argument if there is no such output.
Metric mean_of(const std::string& output);

/// Returns a metric called "perplexity", which is exp(m), where m is what mean_of() of the same
/// output gives over all samples. The output is the mean of a cross-entropy, as a language model
/// has it. The metric's check throws Error invalid_argument if there is no such output.
Metric perplexity(const std::string& output);

}  // namespace penstock
