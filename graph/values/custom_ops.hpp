// The ops of the host's that register_op() has made known are found here by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/custom_op.hpp"

namespace penstock {

/// Returns the op called `name`, or null if there is none. It lives as long as the process.
const CustomOp* find_custom_op(std::string_view name);
/// Returns the names of all ops of the host's.
std::vector<std::string> custom_op_names();

}  // namespace penstock
