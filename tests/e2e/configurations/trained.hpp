// Trained is what a training leaves behind that is run as a configuration says; difference() says
// whether it is what another one leaves behind.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/e2e/configurations/configuration.hpp"

namespace penstock::testing {

/// Has what each call returned under a name, as numbers.
using Calls = std::vector<std::vector<float>>;

struct Trained {
  /// Weights, buffers, the optimizer's state, and what inference makes of them.
  std::map<std::string, Tensor> tensors;
  std::map<std::string, Calls> returned;  ///< Has losses, outputs and anchors.
};

Trained train(const Experiment& experiment, const Configuration& configuration);

/// One stage, one update a call, and all outputs and anchors that another configuration may ask
/// for.
Configuration reference_configuration(const Experiment& experiment);

/// Names the first thing that is not as in the reference; the text is empty if everything is.
std::string difference(const Trained& trained, const Trained& reference,
                       const Experiment& experiment, const Options& options);

}  // namespace penstock::testing
