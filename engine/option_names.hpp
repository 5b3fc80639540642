// option_name() returns the names by which hosts set the options that the compiler's advice is
// about.
#pragma once

#include <string_view>

#include "graph/compile/advice.hpp"

namespace penstock {

/// Returns a name such as "options.training.offload.weights". Any thread may call the function.
std::string_view option_name(graph::Option option);

}  // namespace penstock
