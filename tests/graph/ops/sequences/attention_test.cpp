#include "graph/ops/sequences/attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "graph/ops/activations/dropout.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "tests/support/op_call.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/tape.hpp"

namespace penstock::graph {
namespace {

using testing::Tape;
using testing::uniform;

constexpr std::int64_t samples = 2, rows = 70, features = 4;

/// An Attended has the result of an attention with masks, and the gradients of its inputs.
struct Attended {
  Tensor y, dq, dk, dv, dmask;

  Attended(const Tensor& k, const Tensor& padding, const Tensor& mask, bool causal = false) {
    Tape tape;
    const ValueId q = tape.leaf(uniform({samples, rows, features}, 1)), key = tape.leaf(k);
    const ValueId v = tape.leaf(uniform({samples, rows, features}, 3));
    const ValueId added = tape.leaf(mask);
    const ValueId out = tape.apply(attention, {q, key, v, tape.leaf(padding), added},
                                   {{"heads", std::int64_t{2}},
                                    {"causal", std::int64_t{causal ? 1 : 0}},
                                    {"key_padding_mask", std::int64_t{1}},
                                    {"attn_mask", std::int64_t{1}}})[0];
    tape.backward(out, uniform({samples, rows, features}, 4));
    y = tape[out];
    dq = tape.gradient(q);
    dk = tape.gradient(key);
    dv = tape.gradient(v);
    dmask = tape.gradient(added);
  }
};

Tensor keys() {
  return uniform({samples, rows, features}, 2);
}

Tensor no_mask() {
  return Tensor::zeros(DType::f32, {rows, rows});
}

/// Returns a mask of keys that is 1 from key `first[i]` of sample i on.
Tensor hidden_from(const std::vector<std::int64_t>& first) {
  std::vector<float> elements;
  for (const std::int64_t begin : first)
    for (std::int64_t i = 0; i < rows; ++i) elements.push_back(i >= begin ? 1.0f : 0.0f);
  return {{samples, rows}, std::span<const float>(elements)};
}

void expect_zeros(const Tensor& tensor) {
  for (const float element : tensor.as<float>()) ASSERT_EQ(element, 0.0f);
}

void expect_same(const Attended& a, const Attended& b) {
  EXPECT_TRUE(testing::same_bits(a.y, b.y));
  EXPECT_TRUE(testing::same_bits(a.dq, b.dq));
  EXPECT_TRUE(testing::same_bits(a.dk, b.dk));
  EXPECT_TRUE(testing::same_bits(a.dv, b.dv));
  EXPECT_TRUE(testing::same_bits(a.dmask, b.dmask));
}

TEST(Attention, OfASampleWhoseKeysAreAllHiddenIsZeroWithoutGradients) {
  for (const bool causal : {false, true}) {
    const Attended run(keys(), hidden_from({40, 0}), no_mask(), causal);
    for (const Tensor& tensor : {run.y, run.dq, run.dk, run.dv}) expect_zeros(tensor.rows(1, 2));
    // Every query of the other sample sees a key, and what it makes of it is finite.
    for (const Tensor& tensor : {run.y, run.dq, run.dmask})
      EXPECT_TRUE(
          std::ranges::all_of(tensor.as<float>(), [](float x) { return std::isfinite(x); }));
    EXPECT_NE(run.y.as<float>()[0], 0.0f);
  }
}

TEST(Attention, OfAQueryThatAnAddedMaskLeavesNoKeyIsZero) {
  std::vector<float> mask(rows * rows, 0.0f);
  constexpr std::int64_t query = 66;
  std::fill_n(mask.begin() + query * rows, rows, -std::numeric_limits<float>::infinity());
  const Attended run(keys(), hidden_from({rows, rows}),
                     {{rows, rows}, std::span<const float>(mask)});
  for (std::int64_t sample = 0; sample < samples; ++sample)
    for (const Tensor& tensor : {run.y, run.dq})
      for (std::int64_t i = 0; i < features; ++i) {
        const std::int64_t at = (sample * rows + query) * features + i;
        EXPECT_EQ(tensor.as<float>()[static_cast<std::size_t>(at)], 0.0f);
        EXPECT_NE(tensor.as<float>()[static_cast<std::size_t>(at - features)], 0.0f);
      }
  expect_zeros(run.dmask.rows(query, query + 1));
}

TEST(Attention, DoesNotDependOnHiddenKeys) {
  const Tensor before = keys();
  std::vector<float> other(before.as<float>().begin(), before.as<float>().end());
  for (std::int64_t i = 50 * features; i < rows * features; ++i)
    other[static_cast<std::size_t>(i)] += 1;
  const Attended run({{samples, rows, features}, std::span<const float>(other)},
                     hidden_from({50, rows}), no_mask());
  expect_same(run, Attended(keys(), hidden_from({50, rows}), no_mask()));
  EXPECT_FALSE(testing::same_bits(run.y, Attended(keys(), hidden_from({51, rows}), no_mask()).y));
}

/// Returns x [N,T,H·D] as [N,H,T,D].
Tensor split(const Tensor& x, std::int64_t heads) {
  const std::vector<std::int64_t> shape{x.shape()[0], x.shape()[1], heads, x.shape()[2] / heads};
  const Tensor parts =
      testing::run({.op = &reshape, .attributes = {{"shape", shape}}, .inputs = {x}})[0];
  const std::vector<std::int64_t> axes{0, 2, 1, 3};
  return testing::run({.op = &transpose, .attributes = {{"axes", axes}}, .inputs = {parts}})[0];
}

// The last queries are in another block of the work than the first ones, and a row of shares begins
// anywhere in the sequence of random numbers.
TEST(AttentionDropout, DropsWhatTheOpDropoutDropsOfTheShares) {
  constexpr std::int64_t heads = 2, count = 67;
  const Tensor q = uniform({samples, count, features}, 1),
               k = uniform({samples, count, features}, 2);
  const Tensor v = uniform({samples, count, features}, 3);
  for (const double p : {0.3, 1.0}) {
    const RandomKey random{.seed = 1, .update = 2, .micro_batch = 3, .name = 4};
    const Tensor y = testing::run({.op = &attention_dropout,
                                   .attributes = {{"heads", heads}, {"scale", 0.5}, {"p", p}},
                                   .inputs = {q, k, v},
                                   .random = random})[0];
    Tensor shares = testing::run({.op = &matmul,
                                  .attributes = {{"transpose_b", std::int64_t{1}}},
                                  .inputs = {split(q, heads), split(k, heads)}})[0];
    shares = testing::run({.op = &scale, .attributes = {{"factor", 0.5}}, .inputs = {shares}})[0];
    shares = testing::run(
        {.op = &softmax, .attributes = {{"axis", std::int64_t{-1}}}, .inputs = {shares}})[0];
    shares = testing::run(
        {.op = &dropout, .attributes = {{"p", p}}, .inputs = {shares}, .random = random})[0];
    const Tensor expected = testing::run({.op = &matmul, .inputs = {shares, split(v, heads)}})[0];
    const Tensor actual = split(y, heads);
    for (std::size_t i = 0; i < static_cast<std::size_t>(actual.elements()); ++i)
      ASSERT_NEAR(actual.as<float>()[i], expected.as<float>()[i], 1e-6) << "element " << i;
    if (p == 1) expect_zeros(y);
  }
}

}  // namespace
}  // namespace penstock::graph
