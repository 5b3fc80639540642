// The metrics file has one line per training step, and one for the whole run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/report.hpp"

namespace trainer {

/// Holds what one training step has done.
struct StepMetrics {
  int epoch = 1;                   ///< Is the number of the epoch, counted from 1.
  std::int64_t step = 1;           ///< Is the step of the epoch, counted from 1.
  std::uint64_t updates = 0;       ///< Counts the updates of the run so far.
  double loss = 0;                 ///< Is the mean loss of the step's images.
  std::vector<float> losses = {};  ///< Has the loss of every micro-batch, in the order of the data.
  double accuracy = 0;             ///< Is a fraction from 0 to 1.
  double samples_per_second = 0;   ///< Is the speed from the request for data to the step's return.
  // The metrics file has neither `samples` nor `learning_rate`; other outputs show them.
  std::int64_t samples = 0;  ///< Counts the step's images.
  double learning_rate = 0;  ///< Is the rate of the next weight update.
};

struct RunMetrics {
  double compile_seconds = 0;
  /// Counts how many of the two plans, for training and for inference, came from the cache.
  int plans_from_cache = 0;
  double train_samples_per_second = 0;
  double train_waited_seconds = 0;  ///< Is the time that the training waited for images.
  double inference_samples_per_second = 0;
  double test_accuracy = 0;  ///< Is a fraction from 0 to 1.
  std::int64_t peak_rss_bytes = 0;
  std::vector<penstock::StageReport> stages = {};  ///< Has the reports of the training model.
};

/// Returns one line of JSON without the line's end.
std::string to_json(const StepMetrics& step);
std::string to_json(const RunMetrics& run);

}  // namespace trainer
