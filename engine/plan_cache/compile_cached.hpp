// Compiling with a cache: a plan that was made before is read instead. Any thread.
#pragma once

#include "graph/compile.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// As graph::compile(); with a cache, if the options or the environment name one. A cache that
/// cannot be used is a warning of the report.
/// @throws Error as graph::compile() does.
graph::Compiled compile_cached(const graph::Graph& model, const graph::CompileRequest& request,
                               const RuntimeOptions& options);

}  // namespace penstock
