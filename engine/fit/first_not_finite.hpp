// first_not_finite() finds out where a training step has made the first number that is infinite or
// no number, by computing the step once more with the tensors of all layers as anchors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/training_model.hpp"

namespace penstock {

/// A StepStart is what a step of a training begins with.
struct StepStart {
  /// `inputs` has a tensor for each of TrainingModel::inputs(), in that order.
  std::vector<Tensor> inputs = {};
  /// `weights` has all parameters and buffers of the model.
  std::vector<NamedTensor> weights = {};
  std::vector<NamedTensor> optimizer_state = {};
};

/// Returns a text such as "element 3 of "fc.weight" is nan", for the first element of the tensors
/// that is not finite, or nothing if all are. Only tensors of f32 are looked at.
std::optional<std::string> not_finite(const std::vector<NamedTensor>& tensors);

/// Returns a sentence on the first number of the step that is not finite: the output of a layer, of
/// a micro-batch, in the order of the forward; failing that, the gradient of a parameter, in the
/// order of the backward; failing that, a parameter after an update. The step is computed once more
/// from `start`, update by update, with the optimizer and the random numbers of `training`. The
/// model has the weights of `training` again when the function returns.
/// @throws Error as the constructor of TrainingModel and TrainingModel::step(), for example if the
/// IPUs have no memory for the anchors.
std::string first_not_finite(const TrainingModel& training, const StepStart& start);

}  // namespace penstock
