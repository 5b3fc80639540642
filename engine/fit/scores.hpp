// Scores have what a training's loss and metrics are computed from. One thread uses them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/fit.hpp"

namespace penstock {

/// Checks that every metric has either a score or a state, and a name that no other metric has.
/// @throws Error invalid_argument if a metric has not.
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
  /// Makes scores of nothing for `metrics`, which outlive this object. If the results are
  /// `of_training`, they have a mean loss over all samples, which is counted as "loss", and a
  /// metric of that name is left out. @throws Error as check().
  explicit Scores(std::span<const Metric> metrics, bool of_training = false);

  // Once a stop is requested through `stop`, these functions call no further function of the
  // host's, and say that they have not done all.

  /// Counts one call's result. Returns whether all metrics have counted it.
  bool add(const StepResult& result, const Batch& batch, const std::stop_token& stop = {});
  /// Counts what `other`, which has the same metrics, has counted. Returns whether all metrics
  /// have.
  bool merge(const Scores& other, const std::stop_token& stop = {});
  /// Returns the values so far, with "loss" first if it is counted, or nothing if a metric was not
  /// asked. A value is nan if no result was counted.
  std::optional<std::vector<NamedValue>> values(const std::stop_token& stop = {}) const;
  /// Returns what was counted so far, for a checkpoint. @throws Error as MetricState::save().
  SavedState save() const;
  /// Goes on with what save() of scores of the same metrics has returned. Nothing was counted yet.
  /// @throws Error as MetricState::load().
  void load(const SavedState& saved);
  /// Checks that the states of all metrics can be saved. @throws Error as MetricState::save().
  void check_savable() const;

 private:
  bool counts(const Metric& metric) const;
  MetricState& state(std::size_t position);

  std::span<const Metric> metrics_;
  bool of_training_;
  Score loss_;
  // `states_` has a state for each metric, which is null until the metric has counted something.
  std::vector<std::unique_ptr<MetricState>> states_;
};

}  // namespace penstock
