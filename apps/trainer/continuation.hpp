// continue_text() lets a trained language model go on with a text.
#pragma once

#include <cstdint>
#include <string>

#include "apps/trainer/options/options.hpp"
#include "apps/trainer/task.hpp"
#include "penstock/inference_model.hpp"

namespace trainer {

/// Checks the prompt of `options`. @throws penstock::Error if it has a character that the task's
/// vocabulary does not have.
void check_prompt(const Task& task, const ContinuationOptions& options);

/// Returns the prompt of `options` and as many further tokens as they ask for, one drawn after the
/// other from `seed`. Each token depends on as many tokens before it as the model's context has.
std::string continue_text(penstock::InferenceModel& model, const Task& task,
                          const ContinuationOptions& options, std::uint64_t seed);

}  // namespace trainer
