#include "benchmarks/networks/balanced_stages.hpp"

#include <vector>

#include "benchmarks/measure.hpp"
#include "benchmarks/stage_chains.hpp"
#include "penstock/penstock.hpp"

namespace penstock::benchmarks {
namespace {

constexpr int batch = 32;

class Engine {
 public:
  Engine(Strategy strategy, int accumulation, int updates)
      : model_(equal_stages(), options(strategy, accumulation, updates),
               Sgd{.learning_rate = 1e-6}),
        x_(Tensor::zeros(DType::f32,
                         {std::int64_t{batch} * accumulation * updates, equal_stage_inputs})) {
    model_.step({x_});
  }
  void run() {
    seconds_.push_back(seconds_of([&] { model_.step({x_}); }));
  }
  double seconds() const { return median(seconds_); }

 private:
  static Options options(Strategy strategy, int accumulation, int updates) {
    Options options{.batch_size = batch, .device_iterations = updates};
    options.topology.strategy = strategy;
    options.training.gradient_accumulation = accumulation;
    options.runtime.threads = 2;
    return options;
  }

  TrainingModel model_;
  Tensor x_;
  std::vector<double> seconds_;
};

}  // namespace

BalancedStages compare_balanced_stages(int accumulation, int rounds) {
  const int updates = 120 / accumulation;
  Engine pipelined(Strategy::pipelined, accumulation, updates);
  Engine sharded(Strategy::sharded, accumulation, updates);
  for (int round = 0; round < rounds; ++round) {
    pipelined.run();
    sharded.run();
  }
  return {
      .speedup = sharded.seconds() / pipelined.seconds(),
      .stage_microseconds = sharded.seconds() * 1e6 / (equal_stage_count * accumulation * updates)};
}

}  // namespace penstock::benchmarks
