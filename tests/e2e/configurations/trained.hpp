// A Trained is what a training that is run as a configuration says leaves behind. difference()
// compares it with what the reference training leaves behind.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/e2e/configurations/configuration.hpp"

namespace penstock::testing {

/// Calls are the numbers that each call returned under one name.
using Calls = std::vector<std::vector<float>>;

struct Trained {
  /// These are weights, buffers, the optimizer's state, and results of inference with these
  /// weights.
  std::map<std::string, Tensor> tensors;
  std::map<std::string, Calls> returned;  ///< These are losses, outputs and anchors, by name.
};

Trained train(const Experiment& experiment, const Configuration& configuration);

/// Returns a configuration with one stage, one update in each call, and all outputs and anchors
/// that another configuration may ask for.
Configuration reference_configuration(const Experiment& experiment);

/// Returns the name of the first thing that differs from the reference, or an empty text.
std::string difference(const Trained& trained, const Trained& reference,
                       const Experiment& experiment, const Options& options);

}  // namespace penstock::testing
