// The metrics file has one line per training step, and one line for the whole run.
#pragma once

#include <cstdint>
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
  double loss = 0;            ///< `loss` is the mean loss of the step's images.
  /// `losses` are the losses of all micro-batches, in the order of the data.
  std::vector<float> losses = {};
  double accuracy = 0;  ///< `accuracy` is a fraction from 0 to 1.
  /// `samples_per_second` is the speed from the request for data to the return of the step.
  double samples_per_second = 0;
  // The metrics file has neither `samples` nor `learning_rate`; other outputs show them.
  std::int64_t samples = 0;  ///< The step had this many images.
  double learning_rate = 0;  ///< `learning_rate` is the rate of the next weight update.
};

struct RunMetrics {
  double compile_seconds = 0;
  /// This many of the two plans, for training and for inference, came from the cache.
  int plans_from_cache = 0;
  double train_samples_per_second = 0;
  double train_waited_seconds = 0;  ///< The training waited for images for this time.
  double inference_samples_per_second = 0;
  double test_accuracy = 0;  ///< `test_accuracy` is a fraction from 0 to 1.
  std::int64_t peak_rss_bytes = 0;
  /// `stages` are the reports of the training model.
  std::vector<penstock::StageReport> stages = {};
};

/// Returns what fit() says of a step. The number of its images and the learning rate are left out.
StepMetrics step_metrics(const penstock::StepRecord& record, const penstock::StepResult& result);

/// Returns one line of JSON without the end of the line.
std::string to_json(const StepMetrics& step);
std::string to_json(const RunMetrics& run);

}  // namespace trainer
