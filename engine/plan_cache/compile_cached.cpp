#include "engine/plan_cache/compile_cached.hpp"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "engine/plan_cache/plan_cache.hpp"
#include "graph/codec/compile_key.hpp"
#include "graph/codec/plan_codec.hpp"
#include "graph/values/out_of_memory.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string directory_of(const RuntimeOptions& options) {
  if (!options.cache_directory.empty()) return options.cache_directory;
  const char* named = std::getenv("PENSTOCK_CACHE_DIR");
  return named ? named : "";
}

/// Returns the text of the Error that `action` throws, or an empty text if it throws none.
std::string failure_of(const auto& action) {
  try {
    or_out_of_memory("a plan", action);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

/// Returns the plan that the cache keeps under `key`. Returns nothing if there is none, if it
/// cannot be decoded, or if there is no memory for it.
std::optional<graph::Compiled> find(const PlanCache& cache, const std::string& key) {
  std::optional<graph::Compiled> found;
  failure_of([&] {
    const auto start = std::chrono::steady_clock::now();
    const std::optional<std::string> content = cache.read(key);
    if (!content) return;
    graph::Compiled decoded = graph::decode(*content);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    decoded.report.from_cache = true;
    decoded.report.steps = {{"read plan", taken.count()}};
    decoded.report.seconds = taken.count();
    found = std::move(decoded);
  });
  return found;
}

CachedCompilation compile(const graph::Graph& model, const graph::CompileRequest& request,
                          const RuntimeOptions& options) {
  const std::string directory = directory_of(options);
  if (directory.empty()) return {graph::compile(model, request), {}};
  std::optional<PlanCache> cache;
  std::string failure = failure_of([&] { cache.emplace(directory, options.cache_bytes); });
  const std::string key = cache ? graph::compile_key(model, request) : "";
  if (cache)
    if (auto found = find(*cache, key)) return {*std::move(found), {}};
  // What graph::compile() throws is passed on. It may be an exception of the host's progress
  // function.
  graph::Compiled compiled = graph::compile(model, request);
  if (cache) failure = failure_of([&] { cache->write(key, graph::encode(compiled)); });
  return {std::move(compiled), failure.empty() ? "" : "plan cache: " + failure};
}

}  // namespace

CachedCompilation compile_cached(const graph::Graph& model, const graph::CompileRequest& request,
                                 const RuntimeOptions& options) {
  return or_out_of_memory("compiling a model", [&] { return compile(model, request, options); });
}

}  // namespace penstock
