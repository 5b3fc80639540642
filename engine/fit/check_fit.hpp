// What fit() can tell to be wrong before it begins: nothing has changed then. Pure.
#pragma once

#include "penstock/fit.hpp"

namespace penstock {

/// Tells the callbacks that a training is about to begin.
/// @throws Error invalid_argument saying what was expected and what came, and what they throw.
void check_fit(const TrainingModel& model, const DataLoader& data, const FitOptions& options);

}  // namespace penstock
