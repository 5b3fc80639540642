#include "apps/trainer/options/engine_options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace trainer {
namespace {

/// A loader of a run that is profiled keeps at most this many events.
constexpr std::int64_t most_loader_events = 100'000;

void log_to_stderr(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

/// Sets the stages of `topology`. Its IPUs are set before, because "auto" asks for as many stages
/// as there are IPUs.
void set_stages(penstock::Topology& topology, const StagesOption& option) {
  topology.stages = option.stages;
  if (option.stages.empty())
    topology.automatic_stages = option.automatic.value_or(static_cast<int>(topology.ipus.size()));
}

penstock::Topology topology(const PipelineOptions& options) {
  penstock::Topology topology;
  topology.strategy = options.strategy;
  topology.schedule = options.schedule;
  if (options.ipus) topology.ipus = *options.ipus;
  if (options.stages) set_stages(topology, *options.stages);
  topology.phased = {.phases = options.phases.value_or(std::vector<penstock::Phase>{}),
                     .liveness = options.phase_liveness,
                     .separate_backward_phase = options.separate_backward_phase,
                     .batch_serial = options.batch_serial,
                     .on_ipu = {.weights = options.weights_on_ipu,
                                .activations = options.activations_on_ipu,
                                .accumulators = options.accumulators_on_ipu,
                                .optimizer_state = options.optimizer_on_ipu}};
  topology.ipu_memory_bytes = options.ipu_memory.value_or(0);
  topology.replication_factor = options.replication_factor;
  topology.threads_per_ipu = options.threads_per_ipu.value_or(0);
  return topology;
}

/// Returns the engine's options that training and inference have in common.
penstock::Options engine_options(const TrainerOptions& options) {
  penstock::Options engine;
  engine.seed = options.network.seed;
  engine.topology = topology(options.pipeline);
  engine.output.mode = penstock::OutputMode::all;
  engine.runtime.threads = options.pipeline.threads.value_or(0);
  engine.runtime.stall_seconds =
      options.pipeline.stall_seconds.value_or(engine.runtime.stall_seconds);
  engine.recovery.attempts = options.pipeline.recovery_attempts.value_or(engine.recovery.attempts);
  engine.recovery.wait_seconds =
      options.pipeline.recovery_wait.value_or(engine.recovery.wait_seconds);
  engine.runtime.trace = options.output.profile;
  engine.runtime.cache_directory = options.pipeline.cache_dir.value_or("");
  engine.runtime.cache_bytes = options.pipeline.cache_size.value_or(engine.runtime.cache_bytes);
  if (logs(options.output)) engine.runtime.log = log_to_stderr;
  if (options.output.debug) engine.runtime.log_level = penstock::LogLevel::debug;
  return engine;
}

/// Returns the options that both loaders have in common.
penstock::DataLoaderOptions loader_options(const TrainerOptions& options) {
  penstock::DataLoaderOptions loader;
  loader.workers = options.data.num_workers;
  loader.buffered = options.data.buffered_batches;
  if (options.output.profile) loader.trace_events = most_loader_events;
  return loader;
}

penstock::OffloadOptions training_offload(const PipelineOptions& options) {
  penstock::OffloadOptions offload;
  offload.optimizer_state.on = options.offload_optimizer;
  offload.accumulators.on = options.offload_accumulators;
  offload.activations.on = options.offload_activations;
  offload.weights.on = options.offload_weights;
  for (penstock::Offload* tensors :
       {&offload.optimizer_state, &offload.accumulators, &offload.activations, &offload.weights})
    tensors->minimum_bytes = options.offload_minimum.value_or(tensors->minimum_bytes);
  return offload;
}

}  // namespace

bool logs(const OutputOptions& options) {
  const char* const level = std::getenv("PENSTOCK_LOG_LEVEL");
  return options.debug || (level && *level && level != to_string(penstock::LogLevel::off));
}

penstock::Options training_options(const TrainerOptions& options) {
  penstock::Options engine = engine_options(options);
  const std::int64_t iterations = options.training.device_iterations;
  engine.batch_size = options.training.batch_size;
  engine.device_iterations =
      static_cast<int>(std::min(iterations, options.training.max_updates.value_or(iterations)));
  engine.training.gradient_accumulation = options.training.gradient_accumulation;
  engine.training.reduction = options.pipeline.reduction;
  engine.training.reduction_strategy = options.pipeline.reduction_strategy;
  engine.training.offload = training_offload(options.pipeline);
  penstock::ReplicaSharding& sharding = engine.training.sharding.optimizer_state;
  sharding.on = options.pipeline.shard_optimizer;
  sharding.minimum_elements = options.pipeline.shard_minimum.value_or(sharding.minimum_elements);
  engine.training.recompute = options.pipeline.recompute.has_value();
  engine.training.recompute_stages = options.pipeline.recompute.value_or(std::vector<int>{});
  return engine;
}

penstock::Options inference_options(const TrainerOptions& options, std::int64_t test_samples) {
  penstock::Options engine = engine_options(options);
  const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t batch = std::min<std::int64_t>(options.training.test_batch_size, test_samples);
  const std::int64_t iterations =
      std::int64_t{options.training.device_iterations} * options.training.gradient_accumulation;
  const std::int64_t useful = ceil_div(test_samples, batch * engine.topology.replication_factor);
  engine.batch_size = static_cast<int>(batch);
  engine.device_iterations = static_cast<int>(std::min(iterations, useful));
  engine.training.offload.weights = training_offload(options.pipeline).weights;
  return engine;
}

penstock::LearningRateSchedule make_schedule(const LearningRateOptions& options,
                                             std::int64_t updates) {
  using Schedule = penstock::LearningRateSchedule;
  const std::int64_t warm_up = options.warm_up.value_or(0);
  Schedule schedule;
  switch (options.schedule) {
    case ScheduleName::constant:
      break;
    case ScheduleName::step:
      schedule = Schedule::step(options.step.value(), options.decay.value_or(0.1));
      break;
    case ScheduleName::exponential:
      schedule = Schedule::exponential(options.decay.value());
      break;
    case ScheduleName::cosine:
      schedule =
          Schedule::cosine(options.updates.value_or(std::max<std::int64_t>(1, updates - warm_up)),
                           options.last.value_or(0));
      break;
  }
  return warm_up > 0 ? schedule.after_warm_up(warm_up) : schedule;
}

penstock::DataLoaderOptions training_loader_options(const TrainerOptions& options) {
  penstock::DataLoaderOptions loader = loader_options(options);
  loader.shuffle = !options.data.no_shuffle;
  loader.seed = options.network.seed;
  return loader;
}

penstock::DataLoaderOptions test_loader_options(const TrainerOptions& options) {
  penstock::DataLoaderOptions loader = loader_options(options);
  loader.drop_last = false;
  return loader;
}

}  // namespace trainer
