// This program helps to choose the scheduler's settings: how many messages an actor handles before
// it gives up its worker, how many workers there are, and whether IPUs run on the workers or on
// threads of their own. It prints, per setting:
//   visit    microseconds of wall-clock time per stage visit of four empty stages
//   many     microseconds of wall-clock time per stage visit of a thousand empty stages
//   call     microseconds of a call with a single micro-batch through one empty stage: the way from
//            the host's thread to the kernel and back, and the weight update
//   work     microseconds per micro-batch through four equal stages of real work
//   idle     milliseconds of processor time in a second without a call
// Usage: scheduler_benchmark [ROUNDS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "actors/pipeline/pipeline_runtime.hpp"
#include "benchmarks/chains/stage_chains.hpp"
#include "benchmarks/measuring/measure.hpp"
#include "benchmarks/measuring/processor_time.hpp"
#include "engine/model/model_access.hpp"
#include "graph/compile/compile.hpp"

namespace penstock::benchmarks {
namespace {

struct Work {
  Model model;
  std::int64_t features;  ///< The model's input has this many features.
  std::int64_t batch;
  std::int64_t micro_batches;  ///< One update, and one call, has this many micro-batches.
};

/// An Engine is a model in training on an actor system of its own.
class Engine {
 public:
  Engine(const Work& work, const actors::SystemOptions& system)
      : micro_batches_(work.micro_batches),
        x_(Tensor::zeros(DType::f32, {work.batch * work.micro_batches, work.features})) {
    const graph::CompileRequest request{
        .training = true, .batch = work.batch, .gradient_accumulation = work.micro_batches};
    const auto plan = std::make_shared<const graph::Plan>(
        graph::compile(ModelAccess::graph(work.model), request).plan);
    actors::UpdateRules rules;
    rules.variables.assign(plan->variables.size(), {&graph::find_optimizer_rule("sgd")});
    runtime_ = std::make_unique<actors::PipelineRuntime>(
        actors::PipelineSetup{.plan = plan, .gradient_accumulation = work.micro_batches}, rules,
        system);
    call();
  }

  void call() {
    runtime_->begin_step({x_}, micro_batches_);
    runtime_->finish_step();
  }
  double call_microseconds(int rounds) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) times.push_back(seconds_of([&] { call(); }));
    return median(times) * 1e6;
  }

 private:
  std::int64_t micro_batches_;
  Tensor x_;
  std::unique_ptr<actors::PipelineRuntime> runtime_;
};

double visit_microseconds(int stages, std::int64_t micro_batches, int rounds,
                          const actors::SystemOptions& system) {
  Engine engine({empty_stages(stages), 1, 1, micro_batches}, system);
  return engine.call_microseconds(rounds) / static_cast<double>(2 * stages * micro_batches);
}

double work_microseconds(int rounds, const actors::SystemOptions& system) {
  constexpr std::int64_t micro_batches = 40;
  Engine engine({equal_stages(), equal_stage_inputs, 32, micro_batches}, system);
  return engine.call_microseconds(rounds) / micro_batches;
}

double idle_milliseconds(const actors::SystemOptions& system) {
  Engine engine({empty_stages(4), 1, 1, 4}, system);
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return (processor_seconds() - before) * 1e3;
}

void measure(const actors::SystemOptions& system, int rounds) {
  std::printf("%10d %8d %-8s", system.max_throughput, system.threads,
              system.devices_on_threads ? "threads" : "workers");
  std::printf(" %8.2f", visit_microseconds(4, 400, rounds, system));
  std::printf(" %8.2f", visit_microseconds(1000, 40, rounds, system));
  Engine single({empty_stages(1), 1, 1, 1}, system);
  std::printf(" %8.0f", single.call_microseconds(rounds * 10));
  std::printf(" %8.0f", work_microseconds(rounds, system));
  std::printf(" %8.2f\n", idle_milliseconds(system));
  std::fflush(stdout);
}

std::vector<actors::SystemOptions> settings() {
  std::vector<actors::SystemOptions> list;
  for (const int throughput : {1, 5, 20, 100, 1000})
    list.push_back({.threads = 2, .max_throughput = throughput});
  for (const int threads : {1, 3, 4}) list.push_back({.threads = threads});
  for (const int threads : {1, 2}) list.push_back({.threads = threads, .devices_on_threads = true});
  return list;
}

}  // namespace
}  // namespace penstock::benchmarks

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  std::printf("%10s %8s %-8s %8s %8s %8s %8s %8s\n", "throughput", "workers", "IPUs on", "visit",
              "many", "call", "work", "idle");
  for (const auto& system : penstock::benchmarks::settings())
    penstock::benchmarks::measure(system, rounds);
}
