#include "penstock/options_json.hpp"

#include <ostream>

#include "engine/settings/json_fields.hpp"

namespace penstock {

// These are the fields of each group. The bindings name all of them: a new one must be listed here,
// or this does not compile.

void each_field(MaybeConst<Stage> auto& stage, const auto& visit) {
  auto& [blocks, ipu] = stage;
  visit("blocks", blocks);
  visit("ipu", ipu);
}

void each_field(MaybeConst<Phase> auto& phase, const auto& visit) {
  auto& [stages] = phase;
  visit("stages", stages);
}

void each_field(MaybeConst<OnIpu> auto& on_ipu, const auto& visit) {
  auto& [weights, activations, accumulators, optimizer_state] = on_ipu;
  visit("weights", weights);
  visit("activations", activations);
  visit("accumulators", accumulators);
  visit("optimizer_state", optimizer_state);
}

void each_field(MaybeConst<PhasedOptions> auto& phased, const auto& visit) {
  auto& [phases, liveness, separate_backward_phase, batch_serial, on_ipu] = phased;
  visit("phases", phases);
  visit("liveness", liveness);
  visit("separate_backward_phase", separate_backward_phase);
  visit("batch_serial", batch_serial);
  visit("on_ipu", on_ipu);
}

void each_field(MaybeConst<Topology> auto& topology, const auto& visit) {
  auto& [strategy, schedule, stages, stage_rule, automatic_stages, ipus, ipu_memory_bytes,
         replication_factor, input_group_size, threads_per_ipu, phased] = topology;
  visit("strategy", strategy);
  visit("schedule", schedule);
  visit("stages", stages);
  visit("stage_rule", stage_rule);
  visit("automatic_stages", automatic_stages);
  visit("ipus", ipus);
  visit("ipu_memory_bytes", ipu_memory_bytes);
  visit("replication_factor", replication_factor);
  visit("input_group_size", input_group_size);
  visit("threads_per_ipu", threads_per_ipu);
  visit("phased", phased);
}

void each_field(MaybeConst<Offload> auto& offload, const auto& visit) {
  auto& [on, minimum_bytes] = offload;
  visit("on", on);
  visit("minimum_bytes", minimum_bytes);
}

void each_field(MaybeConst<OffloadOptions> auto& offload, const auto& visit) {
  auto& [optimizer_state, accumulators, activations, weights] = offload;
  visit("optimizer_state", optimizer_state);
  visit("accumulators", accumulators);
  visit("activations", activations);
  visit("weights", weights);
}

void each_field(MaybeConst<ReplicaSharding> auto& sharding, const auto& visit) {
  auto& [on, minimum_elements] = sharding;
  visit("on", on);
  visit("minimum_elements", minimum_elements);
}

void each_field(MaybeConst<ShardingOptions> auto& sharding, const auto& visit) {
  auto& [optimizer_state] = sharding;
  visit("optimizer_state", optimizer_state);
}

void each_field(MaybeConst<TrainingOptions> auto& training, const auto& visit) {
  auto& [gradient_accumulation, reduction, reduction_strategy, offload, sharding, recompute,
         recompute_stages] = training;
  visit("gradient_accumulation", gradient_accumulation);
  visit("reduction", reduction);
  visit("reduction_strategy", reduction_strategy);
  visit("offload", offload);
  visit("sharding", sharding);
  visit("recompute", recompute);
  visit("recompute_stages", recompute_stages);
}

void each_field(MaybeConst<Anchor> auto& anchor, const auto& visit) {
  auto& [name, tensor, gradient, mode, period] = anchor;
  visit("name", name);
  visit("tensor", tensor);
  visit("gradient", gradient);
  visit("mode", mode);
  visit("period", period);
}

void each_field(MaybeConst<OutputOptions> auto& output, const auto& visit) {
  auto& [mode, period, anchors] = output;
  visit("mode", mode);
  visit("period", period);
  visit("anchors", anchors);
}

void each_field(MaybeConst<RuntimeOptions> auto& runtime, const auto& visit) {
  auto& [threads, trace, trace_events, stall_seconds, cache_directory, cache_bytes, log, log_level,
         compile_progress] = runtime;
  static_cast<void>(log);  // These are functions of the host's.
  static_cast<void>(compile_progress);
  visit("threads", threads);
  visit("trace", trace);
  visit("trace_events", trace_events);
  visit("stall_seconds", stall_seconds);
  visit("cache_directory", cache_directory);
  visit("cache_bytes", cache_bytes);
  visit("log_level", log_level);
}

void each_field(MaybeConst<Options> auto& options, const auto& visit) {
  auto& [batch_size, device_iterations, seed, static_shapes, topology, training, output, runtime] =
      options;
  visit("batch_size", batch_size);
  visit("device_iterations", device_iterations);
  visit("seed", seed);
  visit("static_shapes", static_shapes);
  visit("topology", topology);
  visit("training", training);
  visit("output", output);
  visit("runtime", runtime);
}

std::string to_json(const Options& options) {
  return json_text(options);
}

std::ostream& operator<<(std::ostream& stream, const Options& options) {
  return stream << to_json(options);
}

Options options_from_json(const JsonValue& json, const Options& base) {
  return read_checked("options", json, base);
}

Options options_from_json(std::string_view json, const Options& base) {
  return options_from_json(parse_json(json), base);
}

}  // namespace penstock
