// These functions make further callbacks for fit(), beside early_stopping(). A callback serves one
// training at a time, and its copies share its state.
#pragma once

#include <string>

#include "penstock/fit.hpp"

namespace penstock {

/// A BestWeights says which epoch of a training has the best weights.
struct BestWeights {
  /// `monitor` is the name of the value in EpochRecord::values that is watched; see
  /// EarlyStopping::monitor.
  std::string monitor = "val_loss";
  /// `higher_is_better` says whether a higher value is better, as with an accuracy.
  bool higher_is_better = false;
};
/// Returns a callback that lets a training run to its end, and then gives the model the weights and
/// buffers of its best epoch, which is the first one that has the best value. A value of nan is
/// never the best. What EarlyStopping::restore_best_weights says about costs, about the optimizer's
/// state and about trainings that are cancelled or fail holds here, too. The callback's
/// on_fit_begin throws Error invalid_argument if no value will have the name `best.monitor`.
/// @throws Error invalid_argument for an empty name.
FitCallback best_weights(const BestWeights& best = {});

/// A FiniteCheck says how much a training is watched for numbers that are not finite.
struct FiniteCheck {
  /// `find_layer` says whether the error names the layer that has made the first number that is not
  /// finite. Each step then costs a copy of the weights and of the optimizer's state, with which
  /// the step that fails is computed once more. Without it the losses cost nothing to watch, and
  /// the weights are watched at the end of each epoch.
  bool find_layer = true;
};
/// Returns a callback that ends a training as soon as the loss of a step, or a weight or buffer, is
/// infinite or no number: fit() then throws Error invalid_data, whose text names the epoch, the
/// step and what is not finite. With FiniteCheck::find_layer, the text also names the micro-batch
/// and the first layer of the forward whose output is not finite; if there is none, the parameter
/// whose gradient is the first of the backward not to be finite; and if there is none, the
/// parameter that the optimizer has made so. The model keeps the weights after the step, and
/// TrainingModel::updates() counts the updates of the step.
FitCallback stop_when_not_finite(const FiniteCheck& check = {});

}  // namespace penstock
