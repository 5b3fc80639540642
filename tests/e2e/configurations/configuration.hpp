// Experiments and configurations are drawn from a seed. An experiment has everything that decides
// over the bits of a training. A configuration says how the training is run, which must not change
// any bit.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/e2e/configurations/small_networks.hpp"

namespace penstock::testing {

/// There is one experiment for each seed from 0 to `experiments` - 1. Each experiment has
/// `configurations_each` configurations, and each configuration makes `updates` updates.
inline constexpr int experiments = 50, configurations_each = 10, updates = 3;

/// A Draws draws numbers from a seed. The numbers are the same on every machine.
class Draws {
 public:
  explicit Draws(std::uint32_t seed) : generator_(seed) {}

  int below(int limit) { return static_cast<int>(generator_() % static_cast<unsigned>(limit)); }
  bool coin() { return below(2) == 1; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int>(values.size()))];
  }

 private:
  std::mt19937 generator_;
};

struct NamedOptimizer {
  const char* name;
  Optimizer optimizer;
};

/// An Experiment has the model, the data, the optimizer, b, G, R, the seed, the reduction, the
/// input groups and the number of samples of the last update.
struct Experiment {
  const SmallNetwork* network = nullptr;
  NamedOptimizer optimizer = {};  ///< One of the network's parameters may be in a group.
  Options options = {};
  /// This is the number of samples of the last update if they are fewer than those of the other
  /// updates. If it is 0, the last update has as many as the others.
  std::int64_t last_samples = 0;
  /// A parameter is frozen if the bit of its position is set, unless it is the network's
  /// `parameter`. If bit 31 is set, the statistics of norms are frozen.
  std::uint32_t frozen = 0;
};

/// Returns the number of samples of a whole update.
std::int64_t per_update(const Options& options);
/// Returns the number of micro-batches of each replica in update number `update`, counted from 0. A
/// shorter last update has equal micro-batches that are as large as possible.
std::size_t micro_batches_of(const Experiment& experiment, std::size_t update);

/// Draws one of the small networks, or the large one.
Experiment draw_experiment(Draws& draws);
/// Draws an experiment with `network`, which has to outlive it.
Experiment draw_experiment(Draws& draws, const SmallNetwork& network, bool large);

/// A Cut says where a model is cut into stages.
enum class Cut : std::uint8_t {
  between_blocks,   ///< The model is cut as `Topology::stages` says.
  between_layers,   ///< The model is cut anywhere, as `Model::set_stage_assignment()` was told.
  by_the_compiler,  ///< The model is cut as `Topology::automatic_stages` asks.
  /// The model is cut as `Topology::stage_rule` says, with blocks that name their IPUs.
  by_rule
};

struct Configuration {
  Options options = {};  ///< These are the options of the experiment, and all others as drawn.
  Marks marks = {};
  bool cached = false;  ///< If this is true, the plan is read from a cache.
  /// If this is true, each IPU has as much memory as the fullest IPU needs, and no byte more.
  bool limited = false;
  Cut cut = Cut::between_blocks;
  int stages = 1;
  /// This is the stage of each layer, in post-order, for Cut::between_layers.
  std::vector<int> layer_stages = {};
};

/// Draws a configuration that trains `experiment` for all its updates.
Configuration draw_configuration(Draws& draws, const Experiment& experiment);

/// Returns the model of `experiment` as `configuration` cuts it.
Model build_model(const Experiment& experiment, const Configuration& configuration);

/// Returns everything that was drawn, as JSON.
std::string to_json(const Experiment& experiment, const Configuration& configuration);

}  // namespace penstock::testing
