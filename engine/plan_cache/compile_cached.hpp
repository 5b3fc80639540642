// compile_cached() compiles a model, or reads a plan of it that a PlanCache has kept. Any thread
// may call it.
#pragma once

#include <string>

#include "graph/compile/compile.hpp"
#include "penstock/options.hpp"

namespace penstock {

struct CachedCompilation {
  graph::Compiled compiled;
  /// `warning` says why the cache could not be used. It is empty if the cache was used, or if there
  /// is none.
  std::string warning;
};

/// Compiles as graph::compile() does, with a cache if the options or the environment name one.
/// @throws Error as graph::compile() does; out_of_memory.
CachedCompilation compile_cached(const graph::Graph& model, const graph::CompileRequest& request,
                                 const RuntimeOptions& options);

}  // namespace penstock
