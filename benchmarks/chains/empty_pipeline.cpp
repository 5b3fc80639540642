#include "benchmarks/chains/empty_pipeline.hpp"

#include <vector>

#include "benchmarks/chains/stage_chains.hpp"
#include "benchmarks/measuring/measure.hpp"

namespace penstock::benchmarks {
namespace {

Options options_for(const EmptyPipeline::Setting& setting) {
  Options options;
  options.topology.strategy = setting.strategy;
  options.topology.threads_per_ipu = setting.threads_per_ipu;
  options.training.gradient_accumulation = setting.accumulation;
  options.runtime.threads = setting.threads;
  return options;
}

}  // namespace

EmptyPipeline::EmptyPipeline(const Setting& setting)
    : visits_(2.0 * setting.stages * setting.accumulation),
      training_(empty_stages(setting.stages), options_for(setting), Sgd{}),
      x_(Tensor::zeros(DType::f32, {setting.accumulation, 1})) {
  training_.step({x_});
}

double EmptyPipeline::visit_microseconds(int rounds) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round)
    times.push_back(seconds_of([&] { training_.step({x_}); }));
  return median(times) * 1e6 / visits_;
}

}  // namespace penstock::benchmarks
