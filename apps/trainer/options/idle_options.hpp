// These functions find options that change nothing, or not what they seem to, beside the others.
// They are pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/trainer/options/options.hpp"

namespace trainer {

/// Returns a line about each option that changes nothing, or not what it seems to.
std::vector<std::string> idle_options(const TrainerOptions& options);

/// Returns what to say of a learning rate whose cosine ends elsewhere than in the run before, or
/// nothing. The run goes on from a state that has seen `seen` weight updates, and ends with number
/// `last`.
std::string moved_cosine(const LearningRateOptions& options, std::int64_t seen, std::int64_t last);

}  // namespace trainer
