// Options that change nothing, or not what they seem to, beside the others. Pure.
#pragma once

#include <string>
#include <vector>

#include "apps/trainer/options/options.hpp"

namespace trainer {

/// A line about each.
std::vector<std::string> idle_options(const TrainerOptions& options);

}  // namespace trainer
