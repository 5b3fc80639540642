// Configurations drawn from a seed: an experiment is what decides over the bits of a training, a
// configuration how it is run, which must not.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/e2e/configurations/small_networks.hpp"

namespace penstock::testing {

/// There are this many experiments, one of each seed from 0, with so many configurations of each
/// and so many updates of each of these.
inline constexpr int experiments = 50, configurations_each = 10, updates = 3;

/// Draws that are the same on every machine.
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

/// Has the model, the data, the optimizer, b, G, R, the seed, the reduction, the input groups and
/// the samples of the last update.
struct Experiment {
  const SmallNetwork* network = nullptr;
  NamedOptimizer optimizer = {};  ///< Has one of the network's parameters in a group, or none.
  Options options = {};
  /// Counts those of the last update, which are fewer than any other's; 0 says that they are as
  /// many.
  std::int64_t last_samples = 0;
};

/// Counts the samples of a whole update.
std::int64_t per_update(const Options& options);
/// Counts the micro-batches of an update, numbered from 0. A shorter one has equal ones, as large
/// as they can be.
std::size_t micro_batches_of(const Experiment& experiment, std::size_t update);

/// Draws one of the small networks, or the large one.
Experiment draw_experiment(Draws& draws);
/// Draws an experiment with `network`, which has to outlive it.
Experiment draw_experiment(Draws& draws, const SmallNetwork& network, bool large);

/// Says where a model is cut into stages.
enum class Cut : std::uint8_t {
  between_blocks,   ///< Cuts as `Topology::stages` says.
  between_layers,   ///< Cuts anywhere, as `Model::set_stage_assignment` was told.
  by_the_compiler,  ///< Cuts as `Topology::automatic_stages` asks.
  by_rule           ///< `Topology::stage_rule`, of blocks that say their IPUs
};

struct Configuration {
  Options options = {};  ///< Has those of the experiment, and all others drawn.
  Marks marks = {};
  bool cached = false;  ///< Says that the plan is read from a cache.
  /// Says that the IPUs have what the fullest of them needs, and no byte more.
  bool limited = false;
  Cut cut = Cut::between_blocks;
  int stages = 1;
  /// Has the stage of each layer, in post-order, for Cut::between_layers.
  std::vector<int> layer_stages = {};
};

/// Draws how to train `experiment` for all its updates.
Configuration draw_configuration(Draws& draws, const Experiment& experiment);

/// Returns the model of `experiment` as `configuration` cuts it.
Model build_model(const Experiment& experiment, const Configuration& configuration);

/// Everything that was drawn, as JSON.
std::string to_json(const Experiment& experiment, const Configuration& configuration);

}  // namespace penstock::testing
