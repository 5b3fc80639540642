#include "engine/compile_for_host.hpp"

#include "engine/option_names.hpp"
#include "graph/compile/ipu_memory_refusal.hpp"

namespace penstock {

CachedCompilation compile_for_host(const graph::Graph& model, const graph::CompileRequest& request,
                                   const RuntimeOptions& options) {
  try {
    CachedCompilation made = compile_cached(model, request, options);
    for (const graph::Note& note : made.compiled.notes)
      made.compiled.report.warnings.push_back(graph::worded(note, option_name));
    return made;
  } catch (const graph::IpuMemoryRefusal& refusal) {
    throw graph::IpuMemoryRefusal(refusal.advice(), option_name);
  }
}

}  // namespace penstock
