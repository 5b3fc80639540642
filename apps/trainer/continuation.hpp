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

/// Returns the prompt of `options` and as many further tokens as they ask for, one after the other.
/// Each token depends on the tokens before it, as many as the model's context has at most. Tokens
/// are drawn from `seed`; at temperature 0, each is the likeliest one.
std::string continue_text(penstock::InferenceModel& model, const Task& task,
                          const ContinuationOptions& options, std::uint64_t seed);

}  // namespace trainer
