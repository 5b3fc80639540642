// These checks find what fit() can tell to be wrong before it begins, when nothing has changed.
// They are pure.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "penstock/fit.hpp"

namespace penstock {

/// Checks a training of `model`, of which `validation_model` is evaluated if it is not null. Both
/// are handles that a metric's check cannot destroy, other than `options.validation_model`. Once
/// `stop` is asked to stop, no metric's check is called any more.
/// @throws Error invalid_argument saying what was expected and what came, and what a metric's check
/// throws.
void check_fit(const TrainingModel& model, const InferenceModel* validation_model,
               const DataLoader& data, const FitOptions& options, const std::stop_token& stop);

/// Returns the names that EpochRecord::values will have.
std::vector<std::string> value_names(const FitOptions& options);

}  // namespace penstock
