// These functions make a small training that a test can let fail at any run of a layer, in every
// setting, and compare it with one that has not failed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/unchecked_indices.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing::failing_steps {

inline constexpr int batch = 2, accumulation = 3, updates = 2;

/// A Fuse lets one run of a layer throw: run number `left`, counted down from the moment that it is
/// set. A negative number lets none throw.
struct Fuse {
  std::atomic<int> left{-1};
  void burn() {
    if (left.load() >= 0 && left.fetch_sub(1) == 0) throw std::runtime_error("no luck");
  }
};
inline Fuse forward, backward;

/// Makes the op known that passes x on, and throws where the fuses say so.
inline const char* fused_op() {
  static const bool known = [] {
    register_op({.name = "fused",
                 .shape = [](std::span<const Shape> inputs) { return inputs[0]; },
                 .forward =
                     [](std::span<const OpInput> inputs, const OpOutput& output) {
                       forward.burn();
                       std::ranges::copy(inputs[0].values, output.values.begin());
                     },
                 .backward =
                     [](std::span<const OpInput>, const OpInput&, const OpInput& gradient,
                        std::span<const OpOutput> gradients) {
                       backward.burn();
                       std::ranges::copy(gradient.values, gradients[0].values.begin());
                     }});
    return true;
  }();
  return known ? "fused" : "";
}

/// Returns a network of two blocks, with statistics and with random numbers. The last layer fails
/// at a label that does not exist, and a layer in each block fails where the fuses say so.
inline Model network() {
  Model model("network", 5);
  Value x = model.input("x", {4, 2, 1});
  {
    const auto block = model.block("B1");
    x = model.flatten(model.batch_norm2d("norm", x));
    x = model.dropout("drop", model.relu(model.linear("fc1", x, 8)), 0.25);
    x = model.custom(fused_op(), {x});
  }
  const auto block = model.block("B2");
  x = model.custom(fused_op(), {model.linear("fc2", x, 3)});
  model.loss(model.cross_entropy(x, model.labels()));
  return without_checked_indices(std::move(model));
}

/// A Setting says how the network is trained, and has a name for messages.
struct Setting {
  std::string name;
  std::function<void(Options&)> change;
};

/// Returns the name that tests with `setting` have.
inline std::string test_name(const Setting& setting) {
  std::string name = setting.name;
  std::ranges::replace(name, ' ', '_');
  return name;
}

inline std::vector<Setting> settings() {
  const auto of_schedule = [](PipelineSchedule schedule) {
    return [schedule](Options& options) { options.topology.schedule = schedule; };
  };
  const auto of_strategy = [](Strategy strategy) {
    return [strategy](Options& options) { options.topology.strategy = strategy; };
  };
  return {
      {"grouped", of_schedule(PipelineSchedule::grouped)},
      {"interleaved", of_schedule(PipelineSchedule::interleaved)},
      {"sequential", of_schedule(PipelineSchedule::sequential)},
      {"sharded", of_strategy(Strategy::sharded)},
      {"serial phases", of_strategy(Strategy::serial_phased)},
      {"parallel phases", of_strategy(Strategy::parallel_phased)},
      {"one stage",
       [](Options& options) {
         options.topology.stages = {Stage{"B1", "B2"}};
       }},
      {"replicas", [](Options& options) { options.topology.replication_factor = 2; }},
      {"replicas that divide the state",
       [](Options& options) {
         options.topology.replication_factor = 2;
         options.training.sharding.optimizer_state = {.on = true, .minimum_elements = 2};
       }},
      {"host store",
       [](Options& options) {
         OffloadOptions& offload = options.training.offload;
         offload.optimizer_state = offload.accumulators = {.on = true, .minimum_bytes = 0};
         offload.activations = offload.weights = {.on = true, .minimum_bytes = 0};
       }},
      {"recomputation", [](Options& options) { options.training.recompute = true; }},
  };
}

inline Options options_for(const Setting& setting) {
  Options options{.batch_size = batch, .device_iterations = updates};
  options.training.gradient_accumulation = accumulation;
  options.runtime.threads = 2;
  setting.change(options);
  return options;
}

inline std::vector<Tensor> samples(std::int64_t count, std::uint64_t seed) {
  return {uniform({count, 4, 2, 1}, seed), labels({count}, seed + 1, 3)};
}

/// A Training is a model and what trains it.
struct Training {
  explicit Training(const Options& options) : Training(network(), options) {}
  Training(Model trained, const Options& options)
      : model(std::move(trained)), steps(model, options, Adam{.learning_rate = 0.01}) {}

  Model model;
  TrainingModel steps;
};

inline void expect_same(const Training& a, const Training& b, int replicas) {
  EXPECT_EQ(a.steps.updates(), b.steps.updates());
  for (int replica = 0; replica < replicas; ++replica)
    for (const std::string name : {"norm.running_mean", "norm.running_var"})
      EXPECT_TRUE(same_bits(a.steps.buffer(name, replica), b.steps.buffer(name, replica)))
          << name << " of replica " << replica;
  expect_same_weights(a.model, b.model);
  expect_same_state(a.steps.optimizer_state(), b.steps.optimizer_state());
}

}  // namespace penstock::testing::failing_steps
