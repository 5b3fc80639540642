// Training speed of whole networks: samples per second, compile time, and tensor memory allocated
// in steady state, for the shared networks in several topologies. Data are in memory and drawn from
// a seed; what is measured is the engine. Usage: network_benchmark [STEPS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "apps/networks/networks.hpp"
#include "engine/values/memory.hpp"
#include "penstock/penstock.hpp"

namespace penstock {
namespace {

struct Case {
  const char* network;
  int batch_size;
  int gradient_accumulation;
  int device_iterations;
  Optimizer optimizer;
  const char* topology;  ///< for the table
  Topology options;
};

Topology stages(Strategy strategy, PipelineSchedule schedule, const char* text) {
  return {.strategy = strategy, .schedule = schedule, .stages = parse_stages(text)};
}

Topology pipelined(const char* text, PipelineSchedule schedule = PipelineSchedule::grouped) {
  return stages(Strategy::pipelined, schedule, text);
}

Topology replicated(const char* text, int replicas) {
  Topology topology = pipelined(text);
  topology.replication_factor = replicas;
  return topology;
}

std::vector<Case> cases() {
  const Optimizer adamw = AdamW{}, momentum = Sgd{.learning_rate = 0.001, .momentum = 0.9};
  const char* four = "B1|B2|B3|B4";
  const char* one = "B1,B2,B3,B4";
  return {
      {"mnist-cnn", 40, 10, 10, adamw, "4 stages, grouped", pipelined(four)},
      {"mnist-cnn", 40, 10, 10, adamw, "4 stages, interleaved",
       pipelined(four, PipelineSchedule::interleaved)},
      {"mnist-cnn", 40, 10, 10, adamw, "4 stages, sharded",
       stages(Strategy::sharded, PipelineSchedule::grouped, four)},
      {"mnist-cnn", 40, 10, 10, adamw, "1 stage", pipelined(one)},
      {"mnist-cnn", 40, 5, 10, adamw, "1 stage, 2 replicas", replicated(one, 2)},
      {"fashion-cnn", 16, 1, 100, momentum, "1 stage", pipelined(one)},
      {"fashion-cnn", 8, 1, 100, momentum, "1 stage, 2 replicas", replicated(one, 2)},
      {"mlp", 32, 4, 25, momentum, "4 stages, grouped", pipelined(four)},
      {"mlp", 32, 2, 25, momentum, "1 stage, 2 replicas", replicated(one, 2)},
  };
}

/// `count` images of noise with labels: what they show does not matter for speed.
std::vector<Tensor> noise(std::int64_t count) {
  std::vector<float> images(static_cast<std::size_t>(count) * 784);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(count));
  std::uint32_t state = 1;
  for (float& pixel : images) {
    state = state * 1664525u + 1013904223u;
    pixel = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i % 10);
  return {Tensor({count, 1, 28, 28}, images), Tensor({count}, labels)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const Case& one, int steps) {
  Options options{.batch_size = one.batch_size,
                  .device_iterations = one.device_iterations,
                  .topology = one.options};
  options.training.gradient_accumulation = one.gradient_accumulation;
  options.output.mode = OutputMode::all;
  const Model model = networks::find_network(one.network).build(0);
  TrainingModel training(model, options, one.optimizer);
  const std::vector<Tensor> batch = noise(options.samples_per_step());

  training.step(batch);
  const std::uint64_t blocks = memory_counters().blocks_allocated;
  std::vector<double> rates;
  for (int step = 0; step < steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    training.step(batch);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    rates.push_back(static_cast<double>(options.samples_per_step()) / seconds.count());
  }
  const std::uint64_t allocated = memory_counters().blocks_allocated - blocks;
  std::printf("%-12s b=%-3d G=%-3d D=%-4d %-22s %10.0f %10.2f %8llu\n", one.network, one.batch_size,
              one.gradient_accumulation, one.device_iterations, one.topology, median(rates),
              training.compile_report().seconds * 1e3, static_cast<unsigned long long>(allocated));
  std::fflush(stdout);
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  std::printf("%-31s %-22s %10s %10s %8s\n", "training", "topology", "samples/s", "compile ms",
              "blocks");
  for (const penstock::Case& one : penstock::cases()) penstock::measure(one, steps);
  std::printf("medians of %d steps; blocks: tensor memory allocated in them\n", steps);
}
