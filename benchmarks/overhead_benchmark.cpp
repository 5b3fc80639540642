// What the engine itself costs: pipelines of stages that compute next to nothing, so that all the
// time is messages and scheduling. Prints microseconds of both cores together per stage visit (one
// forward or backward of one micro-batch on one stage). Usage: overhead_benchmark [STEPS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"

namespace penstock {
namespace {

Model chain(int stages) {
  Model model("chain");
  Value x = model.input("x", {1});
  for (int stage = 0; stage < stages; ++stage) {
    const auto block = model.block("B" + std::to_string(stage));
    x = model.linear("fc" + std::to_string(stage), x, 1, false);
    if (stage + 1 == stages) model.loss(model.identity_loss(x));
  }
  return model;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(int stages, int accumulation, Strategy strategy, int threads, int steps) {
  Options options{.batch_size = 1, .device_iterations = 1};
  options.topology.strategy = strategy;
  options.training.gradient_accumulation = accumulation;
  options.runtime.threads = threads;
  TrainingModel training(chain(stages), options, Sgd{});
  const Tensor x = Tensor::zeros(DType::f32, {accumulation, 1});
  training.step({x});
  std::vector<double> times;
  for (int step = 0; step < steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    training.step({x});
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count() / (2.0 * stages * accumulation));
  }
  std::printf("%7d %6d %-10s %8d %12.2f\n", stages, accumulation,
              std::string(to_string(strategy)).c_str(), threads, median(times));
  std::fflush(stdout);
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  std::printf("%7s %6s %-10s %8s %12s\n", "stages", "G", "strategy", "threads", "us/visit");
  for (const int threads : {1, 2}) {
    for (const auto strategy : {penstock::Strategy::pipelined, penstock::Strategy::sharded})
      penstock::measure(4, 400, strategy, threads, steps);
    penstock::measure(1000, 40, penstock::Strategy::pipelined, threads, steps);
  }
}
