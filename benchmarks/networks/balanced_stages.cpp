#include "benchmarks/networks/balanced_stages.hpp"

#include <vector>

#include "benchmarks/chains/stage_chains.hpp"
#include "benchmarks/measuring/measure.hpp"
#include "penstock/penstock.hpp"

namespace penstock::benchmarks {
namespace {

constexpr std::int64_t batch = 32;
/// A call has this many micro-batches, which fill whole windows.
constexpr int micro_batches = 120;

class Engine {
 public:
  Engine(Strategy strategy, int accumulation, bool trace = false)
      : model_(equal_stages(), options(strategy, accumulation, trace), Sgd{.learning_rate = 1e-6}),
        x_(Tensor::zeros(DType::f32, {batch * micro_batches, equal_stage_inputs})) {
    run();
    seconds_.clear();
    busy_.clear();
  }
  void run() {
    const double before = busy_seconds();
    seconds_.push_back(seconds_of([&] { model_.step({x_}); }));
    busy_.push_back(busy_seconds() - before);
  }
  StageTimes times() const {
    const auto visits = static_cast<double>(2 * equal_stage_count * micro_batches);
    return {.visit_microseconds = median(seconds_) * 1e6 / visits,
            .busy_cores = median(busy_) / median(seconds_)};
  }
  BubbleProfile bubble() { return model_.profile().bubble; }

 private:
  static Options options(Strategy strategy, int accumulation, bool trace) {
    Options options{.batch_size = static_cast<int>(batch),
                    .device_iterations = micro_batches / accumulation};
    options.topology.strategy = strategy;
    options.training.gradient_accumulation = accumulation;
    options.runtime.threads = 2;
    options.runtime.trace = trace;
    return options;
  }
  double busy_seconds() {
    double busy = 0;
    for (const StageReport& stage : model_.stage_reports()) busy += stage.busy_seconds;
    return busy;
  }

  TrainingModel model_;
  Tensor x_;
  std::vector<double> seconds_, busy_;
};

}  // namespace

BalancedStages compare_balanced_stages(int accumulation, int rounds) {
  Engine pipelined(Strategy::pipelined, accumulation);
  Engine sharded(Strategy::sharded, accumulation);
  for (int round = 0; round < rounds; ++round) {
    pipelined.run();
    sharded.run();
  }
  const StageTimes all = pipelined.times(), one = sharded.times();
  return {
      .pipelined = all, .sharded = one, .speedup = one.visit_microseconds / all.visit_microseconds};
}

BubbleProfile balanced_bubble(int accumulation, int rounds) {
  Engine pipelined(Strategy::pipelined, accumulation, true);
  for (int round = 0; round < rounds; ++round) pipelined.run();
  return pipelined.bubble();
}

}  // namespace penstock::benchmarks
