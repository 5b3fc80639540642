// These checks find errors in the arguments of fit() before it has changed anything. They are pure.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "penstock/fit.hpp"

namespace penstock {

/// Checks the arguments of a training of `model`. `validation_model` is the model that is
/// evaluated, or null if there is none. Both are handles that a metric's check cannot destroy,
/// whereas it may destroy `options.validation_model`. Once a stop is requested through `stop`, no
/// further metric's check is called.
/// @throws Error invalid_argument, which says what was expected and what came; what a metric's
/// check throws.
void check_fit(const TrainingModel& model, const InferenceModel* validation_model,
               const DataLoader& data, const FitOptions& options, const std::stop_token& stop);

/// Returns the names that EpochRecord::values will have.
std::vector<std::string> value_names(const FitOptions& options);

}  // namespace penstock
