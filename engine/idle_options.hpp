// idle_options() finds options that were set but change nothing because of other options, and says
// so in words for the host. It is pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/options.hpp"

namespace penstock {

/// Returns a line for each option that was set but changes nothing. A call of the model has
/// `micro_batches` micro-batches per replica.
std::vector<std::string> idle_options(const Options& options, std::int64_t micro_batches);

}  // namespace penstock
