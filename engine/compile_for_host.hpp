// compile_for_host() compiles a model, and words the compiler's advice with the names by which
// hosts set options. Any thread may call it.
#pragma once

#include "engine/plan_cache/compile_cached.hpp"

namespace penstock {

/// Compiles as compile_cached() does, and adds the compiler's notes to the report's warnings.
/// @throws Error as compile_cached() does. The text of an IpuMemoryRefusal names the options.
CachedCompilation compile_for_host(const graph::Graph& model, const graph::CompileRequest& request,
                                   const RuntimeOptions& options);

}  // namespace penstock
