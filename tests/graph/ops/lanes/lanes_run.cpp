#include "tests/graph/ops/lanes/lanes_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/ops/rules/lane_shape.hpp"
#include "tests/support/op_call.hpp"

namespace penstock::testing {
namespace {

using graph::lane_count;

/// Calls `move(sample, element, at)` for every element of every sample. `at` is the element's place
/// in lanes.
template <class Move>
void for_each_place(const Shape& x, Move move) {
  const std::int64_t length = x.elements() / x[0];
  for (std::int64_t sample = 0; sample < x[0]; ++sample)
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t block = sample / lane_count, lane = sample % lane_count;
      move(static_cast<std::size_t>(sample * length + i),
           static_cast<std::size_t>((block * length + i) * lane_count + lane));
    }
}

}  // namespace

void PrintTo(const Geometry& geometry, std::ostream* stream) {
  *stream << to_string(geometry.x) << " with " << to_string(geometry.weight);
}

Tensor lanes_of(const Tensor& x, float padding) {
  const Shape shape = graph::lane_shape(x.shape());
  std::vector<float> values(static_cast<std::size_t>(shape.elements()), padding);
  for_each_place(x.shape(),
                 [&](std::size_t from, std::size_t to) { values[to] = x.as<float>()[from]; });
  return {shape, std::span<const float>(values)};
}

Tensor samples_of(const Tensor& lanes, std::int64_t batch) {
  const Shape shape = graph::batch_shape(lanes.shape(), batch);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for_each_place(shape,
                 [&](std::size_t to, std::size_t from) { values[to] = lanes.as<float>()[from]; });
  return {shape, std::span<const float>(values)};
}

std::vector<Tensor> outputs_of(const graph::Op& op, std::vector<Tensor> inputs,
                               graph::Attributes attributes) {
  return run({.op = &op, .attributes = std::move(attributes), .inputs = std::move(inputs)});
}

void expect_close(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(to_string(actual.shape()), to_string(expected.shape()));
  float largest = 0, error = 0;
  for (std::size_t i = 0; i < expected.as<float>().size(); ++i) {
    largest = std::max(largest, std::abs(expected.as<float>()[i]));
    error = std::max(error, std::abs(actual.as<float>()[i] - expected.as<float>()[i]));
  }
  EXPECT_LE(error, 1e-5f * largest);
}

void expect_zero_padding(const Tensor& lanes, std::int64_t batch) {
  const Tensor expected = lanes_of(samples_of(lanes, batch));
  EXPECT_TRUE(
      std::equal(lanes.as<float>().begin(), lanes.as<float>().end(), expected.as<float>().begin()));
}

}  // namespace penstock::testing
