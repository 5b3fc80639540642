// Scores: the running sums of a training's loss and of metrics. Used from one thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "penstock/fit.hpp"

namespace penstock {

/// @throws Error invalid_argument for a metric without a name or a function, or two of one name.
void check(std::span<const Metric> metrics);
/// Whether they can be told of what calls return. `who` begins the text.
/// @throws Error as their own checks.
void check(std::span<const Metric> metrics, const StepResult& outline, const std::string& who);

/// The mean of an output's elements: over samples where it has one number for each
/// micro-batch, which counts for all of that. Sums are divided by how many they are of.
Score score_of(const Tensor& values, const OutputRows& rows);

class Scores {
 public:
  /// `metrics` outlive this. Calls of a training have a mean loss: it is "loss" unless a metric is.
  /// @throws as check().
  explicit Scores(std::span<const Metric> metrics, bool of_training = false);

  /// Adds what a call came to.
  void add(const StepResult& result, const Batch& batch);
  /// Adds those of the same metrics.
  Scores& operator+=(const Scores& other) noexcept;
  /// The means so far, "loss" first if there is one; nan of what no call has returned. Each name
  /// after `prefix`.
  std::vector<NamedValue> means(const std::string& prefix = "") const;

 private:
  std::span<const Metric> metrics_;
  bool counts_loss_;
  Score loss_;
  std::vector<Score> scores_;  // by metric
};

}  // namespace penstock
