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

/// Experiments, one of each seed from 0, the configurations of each, and the updates of each of
/// these.
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

/// Model, data, optimizer, b, G, R, seed, reduction, input groups and the last update's samples.
struct Experiment {
  const SmallNetwork* network = nullptr;
  NamedOptimizer optimizer = {};  ///< with one of the network's parameters in a group, or with none
  Options options = {};
  std::int64_t last_samples = 0;  ///< of the last update, fewer than any other's; 0: as many
};

/// Samples of a whole update.
std::int64_t per_update(const Options& options);
/// Micro-batches of an update, counted from 0. A shorter one has equal ones, as large as they can
/// be.
std::size_t micro_batches_of(const Experiment& experiment, std::size_t update);

/// One of the small networks, or the large one.
Experiment draw_experiment(Draws& draws);
/// With that network, which has to outlive the experiment.
Experiment draw_experiment(Draws& draws, const SmallNetwork& network, bool large);

/// Says where a model is cut into stages.
enum class Cut : std::uint8_t {
  between_blocks,   ///< as `Topology::stages` says
  between_layers,   ///< anywhere: as `Model::set_stage_assignment` was told
  by_the_compiler,  ///< `Topology::automatic_stages`
  by_rule           ///< `Topology::stage_rule`, of blocks that say their IPUs
};

struct Configuration {
  Options options = {};  ///< those of the experiment, and all others drawn
  Marks marks = {};
  bool cached = false;   ///< run by a plan that is read from a cache
  bool limited = false;  ///< on IPUs that have what the fullest of them needs, and no byte more
  Cut cut = Cut::between_blocks;
  int stages = 1;
  std::vector<int> layer_stages = {};  ///< of Cut::between_layers: of each layer, in post-order
};

/// How to train `experiment` for all its updates.
Configuration draw_configuration(Draws& draws, const Experiment& experiment);

/// The model of `experiment` as `configuration` cuts it.
Model build_model(const Experiment& experiment, const Configuration& configuration);

/// Everything that was drawn, as JSON.
std::string to_json(const Experiment& experiment, const Configuration& configuration);

}  // namespace penstock::testing
