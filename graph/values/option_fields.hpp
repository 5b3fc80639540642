// This header is the table of all options of the engine: each field of `Options` and of the groups
// in it has one row, which names the field and says which numbers the field may hold. Functions
// that go through the rows check options, print and read them as JSON, choose which options the
// compiler gets, and make the key by which a plan is kept. All functions are pure.
#pragma once

#include <tuple>

#include "graph/values/field_lists.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/ipu_order.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// An OptionRule says how the value of an option is checked, and whether the compiler gets it.
struct OptionRule {
  /// The numbers that the option may hold are those in `range`. In a list, each number has to be in
  /// the range.
  NumberRange range = any_number;
  /// If `for_compiler` is true, the compiler gets the value as it is, in `CompileRequest::options`.
  /// An option for which it is false has its default there, and what the compiler has to know of
  /// the option is in other fields of CompileRequest.
  bool for_compiler = false;
};

/// An OptionRow describes one field of a group of options.
template <class Field>
struct OptionRow {
  const char* name;  ///< `name` is the name of the field in C++, JSON and messages.
  Field& field;
  OptionRule rule;
};

template <class Field>
OptionRow<Field> option_row(const char* name, Field& field, const OptionRule& rule = {}) {
  return {name, field, rule};
}

inline constexpr OptionRule at_least_0{.range = {.low = 0}};
inline constexpr OptionRule at_least_1{.range = {.low = 1}};
inline constexpr OptionRule up_to_1024{.range = {.low = 0, .high = 1024}};
inline constexpr OptionRule from_1_to_1024{.range = {.low = 1, .high = 1024}};

// option_rows() returns the rows of a group of options. Each of these functions names all fields of
// its group in a structured binding, so that a field that is added to the group does not compile
// until it is named here. A field that holds a function of the host's has no row.

auto option_rows(MaybeConst<Stage> auto& stage) {
  // The row of `ipu` has no range, because -1 is legal as well. Options::validate() checks the IPU
  // together with the rest of the stage.
  auto& [blocks, ipu] = stage;
  return std::tuple(option_row("blocks", blocks), option_row("ipu", ipu));
}

auto option_rows(MaybeConst<Phase> auto& phase) {
  auto& [stages] = phase;
  return std::tuple(option_row("stages", stages));
}

auto option_rows(MaybeConst<OnIpu> auto& on_ipu) {
  auto& [weights, activations, accumulators, optimizer_state] = on_ipu;
  return std::tuple(option_row("weights", weights), option_row("activations", activations),
                    option_row("accumulators", accumulators),
                    option_row("optimizer_state", optimizer_state));
}

auto option_rows(MaybeConst<PhasedOptions> auto& phased) {
  auto& [phases, liveness, separate_backward_phase, batch_serial, on_ipu] = phased;
  return std::tuple(option_row("phases", phases), option_row("liveness", liveness),
                    option_row("separate_backward_phase", separate_backward_phase),
                    option_row("batch_serial", batch_serial), option_row("on_ipu", on_ipu));
}

auto option_rows(MaybeConst<Topology> auto& topology) {
  auto& [strategy, schedule, stages, stage_rule, automatic_stages, ipus, ipu_memory_bytes,
         replication_factor, input_group_size, threads_per_ipu, phased] = topology;
  return std::tuple(
      option_row("strategy", strategy), option_row("schedule", schedule),
      option_row("stages", stages), option_row("stage_rule", stage_rule, {.for_compiler = true}),
      option_row("automatic_stages", automatic_stages,
                 {.range = {.low = 0, .high = 1024}, .for_compiler = true}),
      option_row("ipus", ipus, {.range = {.low = 0, .high = highest_ipu}, .for_compiler = true}),
      option_row("ipu_memory_bytes", ipu_memory_bytes, at_least_0),
      option_row("replication_factor", replication_factor, from_1_to_1024),
      option_row("input_group_size", input_group_size, from_1_to_1024),
      option_row("threads_per_ipu", threads_per_ipu, up_to_1024), option_row("phased", phased));
}

auto option_rows(MaybeConst<Offload> auto& offload) {
  auto& [on, minimum_bytes] = offload;
  return std::tuple(option_row("on", on), option_row("minimum_bytes", minimum_bytes, at_least_0));
}

auto option_rows(MaybeConst<OffloadOptions> auto& offload) {
  auto& [optimizer_state, accumulators, activations, weights] = offload;
  return std::tuple(option_row("optimizer_state", optimizer_state),
                    option_row("accumulators", accumulators),
                    option_row("activations", activations), option_row("weights", weights));
}

auto option_rows(MaybeConst<ReplicaSharding> auto& sharding) {
  auto& [on, minimum_elements] = sharding;
  return std::tuple(option_row("on", on),
                    option_row("minimum_elements", minimum_elements, {.range = {.low = 2}}));
}

auto option_rows(MaybeConst<ShardingOptions> auto& sharding) {
  auto& [optimizer_state] = sharding;
  return std::tuple(option_row("optimizer_state", optimizer_state));
}

auto option_rows(MaybeConst<TrainingOptions> auto& training) {
  auto& [gradient_accumulation, reduction, reduction_strategy, offload, sharding, recompute,
         recompute_stages] = training;
  return std::tuple(option_row("gradient_accumulation", gradient_accumulation, at_least_1),
                    option_row("reduction", reduction),
                    option_row("reduction_strategy", reduction_strategy),
                    option_row("offload", offload), option_row("sharding", sharding),
                    option_row("recompute", recompute),
                    option_row("recompute_stages", recompute_stages, at_least_0));
}

auto option_rows(MaybeConst<Anchor> auto& anchor) {
  auto& [name, tensor, gradient, mode, period] = anchor;
  return std::tuple(option_row("name", name), option_row("tensor", tensor),
                    option_row("gradient", gradient), option_row("mode", mode),
                    option_row("period", period, at_least_1));
}

auto option_rows(MaybeConst<OutputOptions> auto& output) {
  auto& [mode, period, anchors] = output;
  return std::tuple(option_row("mode", mode), option_row("period", period, at_least_1),
                    option_row("anchors", anchors));
}

auto option_rows(MaybeConst<RuntimeOptions> auto& runtime) {
  auto& [threads, trace, trace_events, stall_seconds, cache_directory, cache_bytes, log, log_level,
         compile_progress, monitor] = runtime;
  static_cast<void>(log);
  static_cast<void>(compile_progress);
  return std::tuple(option_row("threads", threads, up_to_1024), option_row("trace", trace),
                    option_row("trace_events", trace_events, at_least_1),
                    option_row("stall_seconds", stall_seconds,
                               {.range = {.low = 0, .high = 1e6, .above_low = true}}),
                    option_row("cache_directory", cache_directory),
                    option_row("cache_bytes", cache_bytes, at_least_0),
                    option_row("log_level", log_level), option_row("monitor", monitor));
}

auto option_rows(MaybeConst<RecoveryOptions> auto& recovery) {
  auto& [attempts, wait_seconds] = recovery;
  return std::tuple(option_row("attempts", attempts, at_least_0),
                    option_row("wait_seconds", wait_seconds, {.range = {.low = 0, .high = 1e6}}));
}

auto option_rows(MaybeConst<Options> auto& options) {
  auto& [batch_size, device_iterations, seed, static_shapes, topology, training, output, runtime,
         recovery] = options;
  return std::tuple(option_row("batch_size", batch_size, at_least_1),
                    option_row("device_iterations", device_iterations, at_least_1),
                    option_row("seed", seed), option_row("static_shapes", static_shapes),
                    option_row("topology", topology), option_row("training", training),
                    option_row("output", output), option_row("runtime", runtime),
                    option_row("recovery", recovery));
}

/// An OptionGroup is a struct that option_rows() takes, with or without const.
template <class T>
concept OptionGroup = requires(T& group) {
  option_rows(group);
};

/// Calls `visit(row)` for each row of `group`, in the order of the fields.
void each_option(OptionGroup auto& group, const auto& visit) {
  std::apply([&](const auto&... rows) { (visit(rows), ...); }, option_rows(group));
}

}  // namespace penstock
