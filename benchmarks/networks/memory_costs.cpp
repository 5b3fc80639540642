#include "benchmarks/networks/memory_costs.hpp"

#include <memory>

#include "apps/networks/networks.hpp"
#include "benchmarks/measure.hpp"
#include "benchmarks/networks/contests.hpp"
#include "penstock/penstock.hpp"

namespace penstock::benchmarks {
namespace {

struct Means {
  std::string name;
  void (*use)(TrainingOptions&);
};

const Means all_means[] = {
    {"nothing", [](TrainingOptions&) {}},
    {"optimizer state off the IPUs",
     [](TrainingOptions& training) { training.offload.optimizer_state.on = true; }},
    {"gradient sums off the IPUs",
     [](TrainingOptions& training) { training.offload.accumulators.on = true; }},
    {"activations off the IPUs",
     [](TrainingOptions& training) { training.offload.activations.on = true; }},
    {"weights off the IPUs", [](TrainingOptions& training) { training.offload.weights.on = true; }},
    {"recomputation", [](TrainingOptions& training) { training.recompute = true; }},
};

class Engine {
 public:
  Engine(const Means& means, const Setting& setting)
      : model_(networks::find_network("mnist-cnn").build(0), options(means, setting), AdamW{}),
        images_(Tensor::zeros(DType::f32, {setting.samples(), 1, 28, 28})),
        labels_(Tensor::zeros(DType::i64, {setting.samples()})) {
    model_.step({images_, labels_});
  }

  void run() {
    seconds_.push_back(seconds_of([&] { model_.step({images_, labels_}); }));
  }
  double seconds() const { return median(seconds_); }
  std::int64_t bytes() {
    std::int64_t total = 0;
    for (const StageReport& stage : model_.stage_reports()) total += stage.peak_bytes;
    return total;
  }

 private:
  static Options options(const Means& means, const Setting& setting) {
    Options options = options_for(setting);
    means.use(options.training);
    return options;
  }

  TrainingModel model_;
  Tensor images_, labels_;
  std::vector<double> seconds_;
};

}  // namespace

std::vector<MemoryCost> memory_costs(int rounds) {
  const Setting& setting = mnist_training().settings.front();
  std::vector<std::unique_ptr<Engine>> engines;
  for (const Means& means : all_means) engines.push_back(std::make_unique<Engine>(means, setting));
  for (int round = 0; round < rounds; ++round)
    for (const auto& engine : engines) engine->run();
  std::vector<MemoryCost> costs;
  for (std::size_t i = 1; i < engines.size(); ++i)
    costs.push_back({.means = all_means[i].name,
                     .times = engines[i]->seconds() / engines[0]->seconds(),
                     .bytes_less = engines[0]->bytes() - engines[i]->bytes()});
  return costs;
}

}  // namespace penstock::benchmarks
