// The metrics file has one line per training step, and one line for the whole run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/fit.hpp"
#include "penstock/report.hpp"

namespace trainer {

/// A StepMetrics says what one training step has done.
struct StepMetrics {
  int epoch = 1;              ///< `epoch` is the number of the epoch, counted from 1.
  std::int64_t step = 1;      ///< `step` is the number of the step in the epoch, counted from 1.
  std::uint64_t updates = 0;  ///< The run has done this many updates so far.
  double loss = 0;            ///< `loss` is the mean loss of the step's samples.
  /// `losses` are the losses of all micro-batches, in the order of the data.
  std::vector<float> losses = {};
  /// `accuracy` is a fraction from 0 to 1. A language model has none.
  std::optional<double> accuracy = {};
  /// `samples_per_second` is the speed from the request for data to the return of the step.
  double samples_per_second = 0;
  // The metrics file has neither `samples` nor `learning_rate`; other outputs show them.
  std::int64_t samples = 0;  ///< The step had this many samples.
  double learning_rate = 0;  ///< `learning_rate` is the rate of the next weight update.
};

struct RunMetrics {
  double compile_seconds = 0;
  /// This many of the two plans, for training and for inference, came from the cache.
  int plans_from_cache = 0;
  double train_samples_per_second = 0;
  double train_waited_seconds = 0;  ///< The training waited for data for this time.
  double inference_samples_per_second = 0;
  /// `test_accuracy` is a fraction from 0 to 1. A language model has none.
  std::optional<double> test_accuracy = {};
  /// `validation_loss` is the mean loss of a language model on the rest of the text.
  std::optional<double> validation_loss = {};
  /// `tokens_per_second` is the speed of a language model's training.
  std::optional<double> tokens_per_second = {};
  std::int64_t peak_rss_bytes = 0;
  /// `stages` are the reports of the training model.
  std::vector<penstock::StageReport> stages = {};
};

/// Returns the value called `name`, or nothing if there is none.
std::optional<double> find_value(const std::vector<penstock::NamedValue>& values,
                                 const std::string& name);

/// Returns what fit() says of a step. The number of its samples and the learning rate are left out.
StepMetrics step_metrics(const penstock::StepRecord& record, const penstock::StepResult& result);

/// Returns one line of JSON without the end of the line.
std::string to_json(const StepMetrics& step);
std::string to_json(const RunMetrics& run);

}  // namespace trainer
