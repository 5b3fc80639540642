#include "graph/plan/optimizers/norm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "graph/plan/shards.hpp"
#include "tests/graph/plan/optimizers/run.hpp"

namespace penstock::graph {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double naive(std::span<const float> elements) {
  long double sum = 0;
  for (const float element : elements) sum += static_cast<long double>(element) * element;
  return static_cast<double>(sum);
}

TEST(SquaredNorm, AddsUpEveryElementWhateverTheSize) {
  std::mt19937 random(1);
  for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 8191u, 8192u, 8193u, 20000u}) {
    const Vector elements = drawn(random, size);
    EXPECT_NEAR(squared_norm(elements), naive(elements), 1e-12 * static_cast<double>(size)) << size;
  }
}

TEST(SquaredNorm, IsTheSumOfItsBlocksToTheBit) {
  std::mt19937 random(2);
  constexpr auto block = static_cast<std::size_t>(norm_block);
  const Vector elements = drawn(random, 3 * block + 5);
  double sum = 0;
  for (std::size_t begin = 0; begin < elements.size(); begin += block)
    sum += squared_norm(
        std::span(elements).subspan(begin).first(std::min(block, elements.size() - begin)));
  EXPECT_EQ(squared_norm(elements), sum);
}

TEST(SquaredNorm, BitsDoNotDependOnTheAddress) {
  std::mt19937 random(3);
  const Vector elements = drawn(random, 10000);
  for (std::size_t offset = 1; offset < 16; ++offset) {
    Vector moved(offset + elements.size());
    std::ranges::copy(elements, moved.begin() + static_cast<std::ptrdiff_t>(offset));
    EXPECT_EQ(squared_norm(std::span(moved).subspan(offset)), squared_norm(elements));
  }
}

TEST(SquaredNorm, ScalesAsIfTheElementsWereScaledBefore) {
  std::mt19937 random(4);
  const Vector elements = drawn(random, 1003);
  Vector scaled = elements;
  for (float& element : scaled) element *= 0.1f;
  EXPECT_EQ(squared_norm(elements, 0.1f), squared_norm(scaled));
}

/// Returns the squared norm of `x`, taken shard by shard, of `replicas` shards of ceil(n/R)
/// elements.
double in_shards(std::span<const float> x, std::int64_t replicas, float scale) {
  std::vector<NormPart> parts(static_cast<std::size_t>(replicas));
  std::vector<const NormPart*> all;
  for (std::int64_t replica = 0; replica < replicas; ++replica) {
    const Part shard = shard_of(std::ssize(x), replicas, replica);
    const auto here = [&](const Part& part) {
      EXPECT_TRUE(part.begin >= shard.begin && part.end <= shard.end);
      return x.subspan(static_cast<std::size_t>(part.begin),
                       static_cast<std::size_t>(part.end - part.begin));
    };
    NormPart& own = parts[all.size()];
    all.push_back(&own);
    reserve(own, shard, std::ssize(x));
    const auto room = [&] {
      return std::array{own.head.capacity(), own.blocks.capacity(), own.tail.capacity()};
    };
    const auto reserved = room();
    norm_part(shard, std::ssize(x),
              {[&](const Part& part) { return squared_norm(here(part), scale); },
               [&](const Part& part, float* to) {
                 for (const float element : here(part)) *to++ = element * scale;
               }},
              own);
    EXPECT_EQ(room(), reserved) << "there was room for all of it";
    EXPECT_TRUE(fits(own, shard, std::ssize(x)));
  }
  return squared_norm(all, std::ssize(x));
}

// 4.4 of docs/reference.md: some shards are smaller than a block, some are whole blocks, some are
// cut within a block, and some are empty.
TEST(SquaredNorm, BitsDoNotDependOnShards) {
  std::mt19937 random(5);
  for (const std::size_t size : {1u, 5u, 17u, 8191u, 8192u, 8193u, 16384u, 30011u, 100003u}) {
    const Vector elements = drawn(random, size);
    for (const std::int64_t replicas : {1, 2, 3, 4, 7, 16})
      for (const float scale : {1.0f, 0.1f})
        EXPECT_EQ(in_shards(elements, replicas, scale), squared_norm(elements, scale))
            << size << " elements in " << replicas;
  }
}

TEST(NormPart, FitsItsShardWithAsManyElementsAndBlocksAlone) {
  // This shard has 3 elements of the first block, the second block, and 5 elements of the third.
  const Part shard{norm_block - 3, 2 * norm_block + 5};
  constexpr std::int64_t elements = 3 * norm_block;
  const NormPart fitting{Vector(3), {1.0}, Vector(5)};
  EXPECT_TRUE(fits(fitting, shard, elements));
  for (const auto& change : {+[](NormPart& part) { part.head.pop_back(); },
                             +[](NormPart& part) { part.blocks.push_back(1); },
                             +[](NormPart& part) { part.tail.resize(norm_block + 1); },
                             +[](NormPart& part) { part = {}; }}) {
    NormPart other = fitting;
    change(other);
    EXPECT_FALSE(fits(other, shard, elements));
  }
  EXPECT_TRUE(fits({}, {elements, elements}, elements));
  EXPECT_FALSE(fits(fitting, {elements, elements}, elements));
}

TEST(SquaredNorm, DoesNotOverflowWhereF32Would) {
  EXPECT_DOUBLE_EQ(squared_norm(Vector{1e30f, 1e30f}), 2 * std::pow(double{1e30f}, 2));
}

TEST(ClipFactor, BringsTheCommonNormDownToTheLimit) {
  const std::vector<double> squared_norms{9, 16};
  EXPECT_DOUBLE_EQ(clip_factor(squared_norms, 1), 1 / (5 + 1e-6));
  EXPECT_DOUBLE_EQ(clip_factor(squared_norms, 0.001), 0.001 / (5 + 1e-6));
}

TEST(ClipFactor, BringsItDownExactlyWherePopTorchDoes) {
  const std::vector<double> squared_norms{9, 16};
  EXPECT_EQ(clip_factor(squared_norms, 1, true), 0.2);
  EXPECT_EQ(clip_factor(squared_norms, 5, true), 1);
  EXPECT_LT(clip_factor(squared_norms, 5, false), 1);
}

TEST(ClipFactor, NeverScalesUp) {
  for (const bool exact : {false, true}) {
    EXPECT_EQ(clip_factor(std::vector<double>{9, 16}, 6, exact), 1);
    EXPECT_EQ(clip_factor(std::vector<double>{9, 16}, infinity, exact), 1);
    EXPECT_EQ(clip_factor(std::vector<double>{0}, 1e-3, exact), 1);
    EXPECT_EQ(clip_factor({}, 1, exact), 1);
  }
}

TEST(ClipFactor, LetsANanThrough) {
  for (const bool exact : {false, true})
    EXPECT_TRUE(std::isnan(clip_factor(std::vector<double>{1, std::nan("")}, 1, exact)));
}

}  // namespace
}  // namespace penstock::graph
