#include "engine/plan_cache/compile_cached.hpp"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>

#include "engine/plan_cache/plan_cache.hpp"
#include "graph/codec/compile_key.hpp"
#include "graph/codec/plan_codec.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

std::string directory_of(const RuntimeOptions& options) {
  if (!options.cache_directory.empty()) return options.cache_directory;
  const char* named = std::getenv("PENSTOCK_CACHE_DIR");
  return named ? named : "";
}

/// Nothing if it is not there, or not a plan after all.
std::optional<graph::Compiled> find(const PlanCache& cache, const std::string& key) try {
  const auto start = std::chrono::steady_clock::now();
  const std::optional<std::string> content = cache.read(key);
  if (!content) return std::nullopt;
  graph::Compiled found = graph::decode(*content);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  found.report.from_cache = true;
  found.report.phases = {{"read plan", taken.count()}};
  found.report.seconds = taken.count();
  return found;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

// Compiling is outside of what is tried: what a listener of its progress throws is the host's.
graph::Compiled compile_cached(const graph::Graph& model, const graph::CompileRequest& request,
                               const RuntimeOptions& options) {
  const std::string directory = directory_of(options);
  if (directory.empty()) return graph::compile(model, request);
  std::optional<PlanCache> cache;
  std::string failure;
  try {
    cache.emplace(directory, options.cache_bytes);
  } catch (const Error& error) {
    failure = error.what();
  }
  const std::string key = cache ? graph::compile_key(model, request) : "";
  if (cache)
    if (auto found = find(*cache, key)) return std::move(*found);
  graph::Compiled compiled = graph::compile(model, request);
  try {
    if (cache) cache->write(key, graph::encode(compiled));
  } catch (const Error& error) {
    failure = error.what();
  }
  if (!failure.empty()) compiled.report.warnings.push_back("plan cache: " + failure);
  return compiled;
}

}  // namespace penstock
