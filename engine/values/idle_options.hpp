// Options that change nothing beside the others, in words for whoever set them. Pure.
#pragma once

#include <string>
#include <vector>

#include "penstock/options.hpp"

namespace penstock {

/// A line for each option that was set in vain.
std::vector<std::string> idle_options(const Options& options);

}  // namespace penstock
