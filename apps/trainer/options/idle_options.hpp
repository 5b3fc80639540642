// These functions find options that, beside the other options, have no effect or not the effect
// that they seem to have. They are pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/trainer/options/options.hpp"

namespace trainer {

/// Returns a line about each option that has no effect, or not the effect that it seems to have.
std::vector<std::string> idle_options(const TrainerOptions& options);

/// Returns a note if the cosine of the learning rate ends at another update than the run before had
/// planned, and an empty text otherwise. This run goes on from the state of an optimizer that has
/// done `seen` weight updates, and the number of the last update of this run is `last`.
std::string moved_cosine(const LearningRateOptions& options, std::int64_t seen, std::int64_t last);

}  // namespace trainer
