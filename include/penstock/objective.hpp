// An Objective says what one training of a Model is about. A model may have several trainings, each
// with its own loss, parameters and optimizer. An Objective is plain data.
#pragma once

#include <string>
#include <vector>

#include "penstock/value.hpp"

namespace penstock {

/// An Objective says what a TrainingModel minimizes, what it changes, and what it returns. In its
/// patterns, a `*` matches any characters, and a `?` matches one.
struct Objective {
  /// `loss` is the value that the training minimizes, as if Model::loss() had been called with it.
  /// By default, the training minimizes the model's own loss.
  Value loss = {};
  /// The training changes the parameters whose names match one of these patterns, and that
  /// Model::freeze() has not frozen. To all others it does what it does to frozen parameters.
  std::vector<std::string> trains = {"*"};
  /// Calls return the model's outputs whose names match one of these patterns. Without patterns,
  /// calls return no output.
  std::vector<std::string> outputs = {"*"};
};

}  // namespace penstock
