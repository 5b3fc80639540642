// The tests of frozen parameters train the tutorials' network on digits with these functions. All
// of its layers but the last are frozen.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/networks/networks.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {

inline constexpr std::int64_t updates = 3;
inline constexpr int batch = 12, accumulation = 4;

inline const std::vector<Tensor>& digits() {
  static const std::vector<Tensor> samples = all_samples(
      *first_samples(read_idx(data_path("mnist"), Split::train, {.mean = 0.1307, .std = 0.3081}),
                     batch * accumulation * 2 * updates));
  return samples;
}

/// Returns the tutorials' network. The parameters of all layers but the last are frozen.
inline Model frozen_body() {
  Model model = networks::find_network("mnist-cnn").build(3);
  for (const char* layer : {"layer1.*", "layer2.*", "layer3.*"}) model.freeze(layer);
  return model;
}

inline Options staged(const char* stages) {
  Options options{.batch_size = batch};
  options.topology.stages = parse_stages(stages);
  options.topology.threads_per_ipu = 1;
  options.training.gradient_accumulation = accumulation;
  return options;
}

inline constexpr const char* cuts[] = {"B1,B2,B3,B4", "B1,B2|B3,B4", "B1|B2|B3|B4"};

inline Optimizer adam() {
  return AdamW{.learning_rate = 0.01, .weight_decay = 0.1};
}

inline TrainingRun run(const Model& model, const Options& options,
                       const Optimizer& optimizer = adam()) {
  return train(model, options, optimizer, digits(), updates);
}

}  // namespace penstock::testing
