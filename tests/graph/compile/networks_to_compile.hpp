// The tests of the compiler compile these networks, and compare the results with these functions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "graph/compile/compile.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {

using Inputs = std::vector<std::vector<Tensor>>;  ///< Inputs are the inputs of each micro-batch.

/// Builds block A with "fc1" and a relu, block B with "fc2" and a skip connection from A, and block
/// C with the loss of the result of "fc2" and the target.
inline ModelBuilder small_network() {
  ModelBuilder model;
  const auto x = model.input("x", {5}), target = model.input("target", {4});
  const auto hidden = model.block("A").apply("relu", {model.linear("fc1", x, 4)}, {}, "hidden");
  const auto y = model.block("B").apply("add", {model.linear("fc2", hidden, 4), hidden}, {}, "y");
  model.output("y", y);
  model.loss(model.block("C").apply("mse_loss", {y, target}, {}, "mse"));
  return model;
}

/// Builds convolutions, pooling, dropout, batch norm with running statistics, and class labels, in
/// four blocks.
inline ModelBuilder convolutional_network() {
  ModelBuilder model;
  const auto x = model.input("x", {1, 8, 8}), labels = model.input("labels", {1, 1}, DType::i64);
  const auto c1 = model.block("B0").apply("conv2d", {x, model.parameter("c1", {3, 1, 3, 3})});
  const auto p1 = model.apply("relu", {model.apply("max_pool2d", {c1}, {{"kernel", 2}})});
  const auto dropped = model.apply("dropout", {p1}, {{"p", 0.3}});
  const auto norm = model.block("B1").apply(
      "batch_norm", {dropped, model.parameter("gamma", {3}), model.parameter("beta", {3}),
                     model.buffer("mean", {3}), model.buffer("variance", {3})});
  const auto c2 =
      model.block("B2").apply("conv2d", {norm, model.parameter("c2", {5, 3, 2, 2})}, {}, "c2");
  const auto pooled = model.apply("avg_pool2d", {c2}, {{"kernel", 2}});
  model.block("B3");
  model.output("pooled", pooled);
  model.loss(model.apply("cross_entropy", {model.apply("identity", {pooled}), labels},
                         {{"reduction", "mean"}}));
  return model;
}

inline graph::CompileRequest training(std::vector<graph::StageRequest> stages = {}) {
  return {.training = true, .batch = 3, .stages = std::move(stages), .gradient_accumulation = 16};
}

/// These are ways to cut a model of four blocks into stages.
inline const std::vector<graph::StageRequest> cuts[] = {
    {{{"B0", "B1"}}, {{"B2", "B3"}}},
    {{{"B0"}}, {{"B1", "B2", "B3"}}},
    {{{"B0"}}, {{"B1", "B2"}}, {{"B3"}}},
    {{{"B0"}}, {{"B1"}}, {{"B2"}}, {{"B3"}}},
};

inline void expect_same(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(same_bits(actual[i], expected[i])) << "result " << i;
}

inline bool finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor.as<float>(), [](float x) { return std::isfinite(x); });
}

}  // namespace penstock::testing
