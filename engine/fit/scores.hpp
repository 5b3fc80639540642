// Scores are the running sums of a training's loss and of metrics. One thread uses them.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/fit.hpp"

namespace penstock {

/// @throws Error invalid_argument for a metric without a name or a function, or two of one name.
void check(std::span<const Metric> metrics);
/// Asks the metrics' own checks, as long as `stop` is not asked to stop, whether they can be told
/// of what calls return. @throws Error as the checks, its text opening with `subject`.
void check(std::span<const Metric> metrics, const StepResult& outline, const std::string& subject,
           const std::stop_token& stop);

/// The mean of an output's elements: over samples where it has one number for each
/// micro-batch, which counts for all of that. Sums are divided by how many they are of.
Score score_of(const Tensor& values, const OutputRows& rows);

class Scores {
 public:
  /// Counts for `metrics`, which outlive this object. Calls of a training have a mean loss: it is
  /// "loss" unless a metric has that name. @throws as check().
  explicit Scores(std::span<const Metric> metrics, bool of_training = false);

  /// Adds what a call came to. Once `stop` is asked to stop, no further metric is asked.
  /// @returns whether all of them were.
  bool add(const StepResult& result, const Batch& batch, const std::stop_token& stop = {});
  /// Adds those of the same metrics.
  Scores& operator+=(const Scores& other) noexcept;
  /// The means so far, "loss" first if there is one; nan of what no call has returned. Each name
  /// after `prefix`.
  std::vector<NamedValue> means(const std::string& prefix = "") const;

 private:
  std::span<const Metric> metrics_;
  bool counts_loss_;
  Score loss_;
  std::vector<Score> scores_;  // Is numbered by metric.
};

}  // namespace penstock
