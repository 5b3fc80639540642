// on_hosts_thread() does the work of public functions that belong to no model. A host calls such
// functions on a thread of its own, whose floating-point environment may be any.
#pragma once

#include <string_view>

#include "graph/values/canonical_floats.hpp"
#include "graph/values/out_of_memory.hpp"

namespace penstock {

/// Calls `action` in the default floating-point environment, and returns the result of `action`.
/// @throws Error out_of_memory, whose text begins with `subject`, if memory runs out; whatever else
/// `action` throws.
auto on_hosts_thread(std::string_view subject, const auto& action) {
  return or_out_of_memory(subject, [&] {
    const CanonicalFloats floats;
    return action();
  });
}

}  // namespace penstock
