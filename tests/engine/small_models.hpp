// These are small models of two blocks, and samples for them.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/model.hpp"
#include "penstock/options.hpp"
#include "tests/support/random_tensor.hpp"

namespace penstock::testing {

/// Returns a model of two blocks with dropout, batch statistics, and a weight that both blocks use.
inline Model tied_model() {
  Model model("tied", 3);
  Value x = model.input("x", {4, 1, 1});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.flatten(model.batch_norm2d("norm", x));
    x = model.dropout("drop", model.relu(model.linear("fc", x, 4)), 0.5);
  }
  const auto block = model.block("B2");
  x = model.linear(model.relu(x), model.parameter("fc.weight"));
  model.output("y", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

/// Returns a model of two blocks in which nothing depends on the size of the micro-batch.
inline Model plain_model() {
  Model model("plain", 5);
  Value x = model.input("x", {4});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.tanh(model.linear("fc1", x, 6));
  }
  const auto block = model.block("B2");
  x = model.linear("fc2", x, 4);
  model.output("y", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

inline std::vector<Tensor> samples(std::int64_t count, bool images, std::uint64_t seed = 1) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) labels.push_back(i % 4);
  const Shape shape = images ? Shape{count, 4, 1, 1} : Shape{count, 4};
  return {uniform(shape, seed), Tensor({count}, labels)};
}

inline Options options_for(int batch, int accumulation, int iterations) {
  Options options{.batch_size = batch, .device_iterations = iterations, .seed = 11};
  options.training.gradient_accumulation = accumulation;
  options.runtime.threads = 2;
  return options;
}

}  // namespace penstock::testing
