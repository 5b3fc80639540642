// Scores are the running sums of a training's loss and of metrics. One thread uses them.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/fit.hpp"

namespace penstock {

/// Checks that every metric has a function, and a name that no other one has. @throws Error
/// invalid_argument if one has not.
void check(std::span<const Metric> metrics);
/// Calls the metrics' own checks until `stop` is requested; they say whether the metrics can be
/// computed from what calls return. @throws Error as the checks, its text opening with `subject`.
void check(std::span<const Metric> metrics, const StepResult& outline, const std::string& subject,
           const std::stop_token& stop);

/// Returns the mean of an output's elements. If the output has one number for each micro-batch, the
/// number counts for all samples of the micro-batch, so that the score is a mean over samples. A
/// sum is divided by the number of what it sums up.
Score score_of(const Tensor& values, const OutputRows& rows);

class Scores {
 public:
  /// Counts for `metrics`, which outlive this object. Calls of a training have a mean loss over all
  /// samples: that is "loss", and a metric of that name is left out. @throws Error as check().
  explicit Scores(std::span<const Metric> metrics, bool of_training = false);

  /// Adds the scores of one call's result. Once `stop` is requested, no further metric is computed.
  /// Returns whether all metrics were computed.
  bool add(const StepResult& result, const Batch& batch, const std::stop_token& stop = {});
  /// Adds the sums of `other`, which has the same metrics.
  Scores& operator+=(const Scores& other) noexcept;
  /// Returns the means so far, "loss" first if there is one; the mean of what no call has returned
  /// is nan. `prefix` stands before each name.
  std::vector<NamedValue> means(const std::string& prefix = "") const;

 private:
  bool counts(const Metric& metric) const;

  std::span<const Metric> metrics_;
  bool of_training_;
  Score loss_;
  std::vector<Score> scores_;  // Has one score for each metric.
};

}  // namespace penstock
