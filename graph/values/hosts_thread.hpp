// Public functions that have no model begin with on_hosts_thread(). A host calls them on a thread
// of its own, in whatever floating-point environment that thread has.
#pragma once

#include <string_view>

#include "graph/values/canonical_floats.hpp"
#include "graph/values/out_of_memory.hpp"

namespace penstock {

/// Calls `action` in the default floating-point environment, and returns what it returns. @throws
/// Error out_of_memory, whose text begins with `subject`, if memory runs out; what `action` throws.
auto on_hosts_thread(std::string_view subject, const auto& action) {
  return or_out_of_memory(subject, [&] {
    const CanonicalFloats floats;
    return action();
  });
}

}  // namespace penstock
