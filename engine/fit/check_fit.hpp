// What fit() can tell to be wrong before it begins: nothing has changed then. Pure.
#pragma once

#include "penstock/fit.hpp"

namespace penstock {

/// @throws Error invalid_argument saying what was expected and what came.
void check_fit(const TrainingModel& model, const DataLoader& data, const FitOptions& options);

}  // namespace penstock
