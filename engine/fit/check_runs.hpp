// These checks find errors in the arguments of evaluate() and predict() before the first run. They
// are pure.
#pragma once

#include <string>

#include "engine/fit/inference_fields.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/inference_model.hpp"

namespace penstock {

/// Checks the batches of `data`. @throws Error invalid_argument, whose text begins with `subject`,
/// if `model` does not take batches with the fields of `data`, or with a number of samples that a
/// batch is known to have.
void check_runs(const InferenceModel& model, const DataLoader& data, const InferenceFields& fields,
                const std::string& subject);

}  // namespace penstock
