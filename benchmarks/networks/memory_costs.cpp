#include "benchmarks/networks/memory_costs.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/networks/networks.hpp"
#include "benchmarks/measuring/measure.hpp"
#include "benchmarks/networks/contests.hpp"
#include "penstock/penstock.hpp"

namespace penstock::benchmarks {
namespace {

// Each of these functions turns the trainer's usual options into those of the run without a means
// of saving memory. None of them changes the number of samples of an update.
void on_four_ipus(Options&) {}
void in_two_replicas(Options& options) {
  options.topology.replication_factor = 2;
  options.training.gradient_accumulation /= 2;
}
void on_one_ipu(Options& options) {
  options.topology.ipus = {0, 0, 0, 0};
}

struct Means {
  std::string name;
  void (*without)(Options&);
  void (*use)(Options&);
  std::vector<std::string> frozen = {};  ///< The parameters of these patterns are frozen.
};

const Means all_means[] = {
    {"optimizer state off the IPUs", on_four_ipus,
     [](Options& options) { options.training.offload.optimizer_state.on = true; }},
    {"gradient sums off the IPUs", on_four_ipus,
     [](Options& options) { options.training.offload.accumulators.on = true; }},
    {"activations off the IPUs", on_four_ipus,
     [](Options& options) { options.training.offload.activations.on = true; }},
    {"weights off one IPU", on_one_ipu,
     [](Options& options) { options.training.offload.weights.on = true; }},
    {"recomputation", on_four_ipus, [](Options& options) { options.training.recompute = true; }},
    {"state divided by 2 replicas", in_two_replicas,
     [](Options& options) { options.training.sharding.optimizer_state.on = true; }},
    {"phases on one IPU", on_one_ipu,
     [](Options& options) {
       options.topology.strategy = Strategy::serial_phased;
       options.topology.phased.batch_serial = true;
     }},
    {"all layers but the last frozen",
     on_four_ipus,
     [](Options&) {},
     {"layer1.*", "layer2.*", "layer3.*"}},
};

using Bytes = std::int64_t;

/// Returns the sum of the IPUs' peaks of memory, in bytes. Memory that the stages of an IPU share
/// is counted once.
Bytes bytes_on_ipus(const std::vector<StageReport>& stages) {
  Bytes total = 0;
  std::map<int, Bytes> shared;
  for (const StageReport& stage : stages) {
    total += stage.peak_bytes - stage.shared_bytes;
    shared[stage.ipu] = stage.shared_bytes;
  }
  for (const auto& [ipu, bytes] : shared) total += bytes;
  return total;
}

class MeasuredEngine {
 public:
  explicit MeasuredEngine(Options options, bool trace = false,
                          const std::vector<std::string>& frozen = {})
      : model_(network(frozen), traced(options, trace), AdamW{}),
        images_(Tensor::zeros(DType::f32, {options.samples_per_step(), 1, 28, 28})),
        labels_(Tensor::zeros(DType::i64, {options.samples_per_step()})) {
    model_.step({images_, labels_});
  }

  void run() {
    seconds_.push_back(seconds_of([&] { model_.step({images_, labels_}); }));
  }
  double seconds() const { return median(seconds_); }
  Bytes bytes() { return bytes_on_ipus(model_.stage_reports()); }
  /// Runs a step that is recorded. Returns the seconds that all IPUs together spent on weight
  /// updates and on loads of weights.
  double update_seconds() {
    model_.take_trace();
    run();
    std::int64_t nanoseconds = 0;
    for (const TraceEvent& event : model_.take_trace())
      if (event.activity == Activity::update || event.activity == Activity::exchange ||
          event.activity == Activity::load)
        nanoseconds += event.end_ns - event.begin_ns;
    return static_cast<double>(nanoseconds) * 1e-9;
  }

 private:
  static Model network(const std::vector<std::string>& frozen) {
    Model model = networks::find_network("mnist-cnn").build(0);
    for (const std::string& pattern : frozen) model.freeze(pattern);
    return model;
  }
  static Options& traced(Options& options, bool trace) {
    options.runtime.trace = trace;
    return options;
  }

  TrainingModel model_;
  Tensor images_, labels_;
  std::vector<double> seconds_;
};

/// A Pair is two engines that differ only in the means whose cost is measured.
struct Pair {
  MeasuredEngine without, with;
};

/// Runs both engines once. Each engine is the first to run in every second round.
void run_by_turns(Pair& pair, int round) {
  if (round % 2 == 0) pair.without.run();
  pair.with.run();
  if (round % 2 != 0) pair.without.run();
}

/// Returns what it costs to save memory by `means`. In each of `rounds` rounds, a step is timed
/// both with `means` and without.
MemoryCost cost_of(const Means& means, int rounds) {
  Options without = options_for(mnist_training().settings.front());
  means.without(without);
  Options with = without;
  means.use(with);
  Pair timed{MeasuredEngine(without), MeasuredEngine(with, false, means.frozen)};
  Pair traced{MeasuredEngine(without, true), MeasuredEngine(with, true, means.frozen)};
  std::vector<double> updates_without, updates_with;
  for (int round = 0; round < rounds; ++round) {
    run_by_turns(timed, round);
    updates_without.push_back(traced.without.update_seconds());
    updates_with.push_back(traced.with.update_seconds());
  }
  const auto updates = static_cast<double>(mnist_training().settings.front().cut.iterations);
  return {.means = means.name,
          .times = timed.with.seconds() / timed.without.seconds(),
          .update_microseconds = 1e6 * (median(updates_with) - median(updates_without)) / updates,
          .bytes_less = timed.without.bytes() - timed.with.bytes()};
}

}  // namespace

double recording_cost(int rounds) {
  const Options options = options_for(mnist_training().settings.front());
  Pair pair{MeasuredEngine(options), MeasuredEngine(options, true)};
  for (int round = 0; round < rounds; ++round) run_by_turns(pair, round);
  return pair.with.seconds() / pair.without.seconds();
}

std::vector<MemoryCost> memory_costs(int rounds) {
  std::vector<MemoryCost> costs;
  for (const Means& means : all_means) costs.push_back(cost_of(means, rounds));
  return costs;
}

}  // namespace penstock::benchmarks
