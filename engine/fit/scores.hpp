// Scores are the running sums of a training's loss and of metrics. One thread uses them.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/fit.hpp"

namespace penstock {

/// Checks that every metric has a function, and a name that no other metric has. @throws Error
/// invalid_argument if a metric has not.
void check(std::span<const Metric> metrics);
/// Calls the metrics' own checks until a stop is requested through `stop`. A check throws if its
/// metric cannot be computed from what calls return. @throws Error as the checks, whose text then
/// begins with `subject`, except for errors of the host's own classes.
void check(std::span<const Metric> metrics, const StepResult& outline, const std::string& subject,
           const std::stop_token& stop);

/// Returns the mean of an output's elements. If the output has one number for each micro-batch, the
/// number counts for all samples of the micro-batch, so that the score is a mean over samples.
/// Under OutputMode::sum, an element is a sum over `rows.summed` micro-batches, and counts as many
/// times.
Score score_of(const Tensor& values, const OutputRows& rows);

class Scores {
 public:
  /// Makes empty sums for `metrics`, which outlive this object. If the results are `of_training`,
  /// they have a mean loss over all samples, which is counted as "loss", and a metric of that name
  /// is left out. @throws Error as check().
  explicit Scores(std::span<const Metric> metrics, bool of_training = false);

  /// Adds the scores of one call's result. Once a stop is requested through `stop`, no further
  /// metric is computed. Returns whether all metrics were computed.
  bool add(const StepResult& result, const Batch& batch, const std::stop_token& stop = {});
  /// Adds the sums of `other`, which has the same metrics.
  Scores& operator+=(const Scores& other) noexcept;
  /// Returns the means so far, with "loss" first if it is counted. A mean is nan if no result was
  /// added. `prefix` stands before each name.
  std::vector<NamedValue> means(const std::string& prefix = "") const;

 private:
  bool counts(const Metric& metric) const;

  std::span<const Metric> metrics_;
  bool of_training_;
  Score loss_;
  std::vector<Score> scores_;  // `scores_` has one score for each metric.
};

}  // namespace penstock
