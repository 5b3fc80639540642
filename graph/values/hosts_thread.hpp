// on_hosts_thread: what public functions without a model open with. A host calls them on a thread
// of its own, in whatever floating-point environment that has.
#pragma once

#include <string_view>

#include "graph/values/canonical_floats.hpp"
#include "graph/values/out_of_memory.hpp"

namespace penstock {

/// Returns what `action` returns, which computes in the default floating-point environment.
/// @throws Error out_of_memory, whose text opens with `who`, if memory runs out; what `action`
/// throws.
auto on_hosts_thread(std::string_view who, const auto& action) {
  return or_out_of_memory(who, [&] {
    const CanonicalFloats floats;
    return action();
  });
}

}  // namespace penstock
