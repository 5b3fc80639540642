// evaluate_once() is for a training that evaluates at the end of each epoch. All its calls in a
// training share a LoaderNote, so that the log has the loader's note only once.
#pragma once

#include <functional>
#include <span>
#include <stop_token>

#include "engine/fit/inference_fields.hpp"
#include "engine/fit/loader_note.hpp"
#include "penstock/fit.hpp"

namespace penstock {

/// Does what evaluate() does, after the metrics and the fields have been checked. @throws Error as
/// evaluate().
Evaluation evaluate_once(InferenceModel& model, DataLoader& data, InferenceFields& fields,
                         std::span<const Metric> metrics, LoaderNote& note,
                         const std::function<void()>& on_batch = {},
                         const std::stop_token& stop = {});

}  // namespace penstock
