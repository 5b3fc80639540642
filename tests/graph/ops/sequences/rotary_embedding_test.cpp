#include "graph/ops/sequences/rotary_embedding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "graph/ops/movement/slices.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::graph {
namespace {

using testing::run;

Tensor rows_from(const Tensor& x, std::int64_t begin) {
  return run({.op = &slice,
              .attributes = {{"axis", std::int64_t{1}}, {"begin", begin}, {"end", x.shape()[1]}},
              .inputs = {x}})[0];
}

TEST(RotaryEmbedding, OfRowsFromAPositionOnIsThatOfTheWholeSequence) {
  const Tensor x = testing::uniform({2, 9, 8}, 1);
  const Attributes attributes{{"heads", std::int64_t{2}}};
  Attributes from = attributes;
  from.set("position", std::int64_t{1});
  const std::vector<std::int64_t> positions{4, 4};
  EXPECT_TRUE(testing::same_bits(
      rows_from(run({.op = &rotary_embedding, .attributes = attributes, .inputs = {x}})[0], 4),
      run({.op = &rotary_embedding,
           .attributes = from,
           .inputs = {rows_from(x, 4), Tensor({2}, positions)}})[0]));
}

// The scores of a query and a key depend on how far apart they are, and on nothing else.
TEST(RotaryEmbedding, KeepsProductsOfRowsThatAreEquallyFarApart) {
  const Tensor row = testing::uniform({1, 1, 6}, 2);
  std::vector<float> copies;
  for (int i = 0; i < 5; ++i)
    copies.insert(copies.end(), row.as<float>().begin(), row.as<float>().end());
  const Tensor y = run({.op = &rotary_embedding, .inputs = {Tensor({1, 5, 6}, copies)}})[0];
  const auto product = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i)
      sum += double{y.as<float>()[6 * a + i]} * y.as<float>()[6 * b + i];
    return sum;
  };
  EXPECT_NEAR(product(0, 2), product(2, 4), 1e-6);
  EXPECT_GT(std::abs(product(0, 1) - product(0, 2)), 1e-3);
}

}  // namespace
}  // namespace penstock::graph
