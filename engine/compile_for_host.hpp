// compile_for_host() compiles, and gives the compiler's advice the words in which hosts set
// options. Any thread may call it.
#pragma once

#include "engine/plan_cache/compile_cached.hpp"

namespace penstock {

/// Compiles as compile_cached() does. The report has the notes as warnings.
/// @throws Error as compile_cached() does; of an IpuMemoryRefusal, the text names the options.
CachedCompilation compile_for_host(const graph::Graph& model, const graph::CompileRequest& request,
                                   const RuntimeOptions& options);

}  // namespace penstock
