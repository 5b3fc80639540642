// Options that change nothing beside the others, in words for whoever set them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/options.hpp"

namespace penstock {

/// A line for each option that was set in vain, where a call has so many micro-batches per replica.
std::vector<std::string> idle_options(const Options& options, std::int64_t micro_batches);

}  // namespace penstock
