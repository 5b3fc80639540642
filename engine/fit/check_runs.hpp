// These checks find what evaluate() and predict() can tell to be wrong before their first run. They
// are pure.
#pragma once

#include <string>

#include "engine/fit/inference_fields.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/inference_model.hpp"

namespace penstock {

/// Checks the batches of `data`. @throws Error invalid_argument, opening with `subject`, if the
/// model does not take batches of these fields, or of as many samples as it is known that they will
/// have.
void check_runs(const InferenceModel& model, const DataLoader& data, const InferenceFields& fields,
                const std::string& subject);

}  // namespace penstock
