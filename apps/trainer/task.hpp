// A Task is what a run trains and measures: the data, the network that fits them, and the metrics.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/trainer/onnx_network.hpp"
#include "apps/trainer/options/options.hpp"
#include "apps/trainer/output/progress.hpp"
#include "penstock/dataset.hpp"
#include "penstock/metric.hpp"
#include "penstock/model.hpp"
#include "penstock/text.hpp"

namespace trainer {

struct Task {
  penstock::Model model;
  std::shared_ptr<const penstock::Dataset> train;  ///< The first fields are the model's inputs.
  std::shared_ptr<const penstock::Dataset> test;
  /// These tensors of the model are not finite before the training, and no training changes them.
  std::vector<std::string> infinite_constants = {};
  /// `files` are the paths of the files from which the data were read, or of folders of such files.
  std::vector<std::string> files = {};
  std::vector<std::string> notes = {};  ///< `notes` say what the user should know of the data.
  std::string sample_name;              ///< `sample_name` is what a sample is: "image" or "window".
  /// `training_metrics` are measured in each step, besides the loss.
  std::vector<penstock::Metric> training_metrics = {};
  /// `test_metrics` has either "accuracy" or "loss".
  std::vector<penstock::Metric> test_metrics = {};
  std::int64_t tokens_per_sample = 0;  ///< An image has no tokens.
  /// This says that each training sample is drawn anew, so that no part of the data is left out.
  bool draws_samples = false;
  std::optional<penstock::Vocabulary> vocabulary = {};  ///< Images have no vocabulary.
  /// The pixels of images are normalized so; a text has none.
  std::optional<penstock::Normalization> normalization = {};
};

/// Reads the data that `options` name, and makes the network, with random weights, unless there is
/// an `imported` one, which the task then trains. A terminal shows how far the reading is.
/// @throws penstock::Error that names the file or the option that is refused.
Task make_task(const TrainerOptions& options, const std::optional<OnnxNetwork>& imported,
               const ProgressStream& stream);

}  // namespace trainer
