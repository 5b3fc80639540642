#include "tests/support/tape.hpp"

#include <gtest/gtest.h>

#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/matmul.hpp"

namespace penstock::testing {
namespace {

using graph::ValueId;

std::vector<float> elements(const Tensor& tensor) {
  return {tensor.as<float>().begin(), tensor.as<float>().end()};
}

using Floats = std::vector<float>;

TEST(Tape, SumsWhatAValueContributesByEachOfItsUses) {
  Tape tape;
  const ValueId a = tape.leaf(Tensor({1, 1}, {3.0f}));
  const ValueId square = tape.apply(graph::matmul, {a, a})[0];
  const ValueId cube = tape.apply(graph::matmul, {square, a})[0];
  tape.backward(cube, Tensor({1, 1}, {2.0f}));
  EXPECT_EQ(elements(tape[cube]), Floats{27});
  EXPECT_EQ(elements(tape.gradient(square)), Floats{6});
  EXPECT_EQ(elements(tape.gradient(a)), Floats{2 * 3 * 9});
}

TEST(Tape, EmitsOnlyTheGradientsThatAreWanted) {
  Tape tape;
  const ValueId a = tape.leaf(Tensor({1, 1}, {3.0f})), b = tape.leaf(Tensor({1, 1}, {5.0f}));
  const ValueId y = tape.apply(graph::relu, {tape.apply(graph::matmul, {a, b})[0]})[0];
  tape.backward(y, Tensor({1, 1}, {1.0f}), {b});
  EXPECT_FALSE(tape.gradient(a));
  EXPECT_EQ(elements(tape.gradient(b)), Floats{3});
  EXPECT_EQ(tape.calls().size(), 4u) << "matmul, relu, and one gradient each";
}

}  // namespace
}  // namespace penstock::testing
