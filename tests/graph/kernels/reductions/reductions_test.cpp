// These tests check sums under every instruction set that the machine has.
#include "graph/kernels/reductions/reductions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "graph/kernels/kernel_table.hpp"

namespace penstock::graph {
namespace {

std::vector<float> drawn(std::size_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> draw(0, 1);
  std::vector<float> values(count);
  for (float& value : values) value = draw(random);
  return values;
}

/// These counts are around a vector, around the 32 partial sums, around the 1024 of a short sum,
/// and one of them is large.
constexpr std::size_t counts[] = {0, 1, 15, 16, 17, 31, 32, 33, 1023, 1024, 1025, 100'003};

double sum(Isa isa, std::size_t count, const float* x) {
  return kernel_table(isa).reductions.sum(static_cast<std::int64_t>(count), x);
}

TEST(ReductionKernels, AddUpEveryElementWithAnErrorThatDoesNotGrow) {
  for (const std::size_t count : counts) {
    const std::vector<float> x = drawn(count);
    double exact = 0;
    for (const float element : x) exact += element;
    for (const Isa isa : available_isas())
      EXPECT_NEAR(sum(isa, count, x.data()), exact, 2e-7 * exact)
          << count << " under " << to_string(isa);
  }
}

TEST(ReductionKernels, AddUpInTheSameOrderUnderEveryInstructionSet) {
  for (const std::size_t count : counts) {
    const std::vector<float> x = drawn(count);
    for (const Isa isa : available_isas())
      EXPECT_EQ(sum(isa, count, x.data()), sum(Isa::portable, count, x.data()))
          << count << " under " << to_string(isa);
  }
}

TEST(ReductionKernels, AddUpToBitsThatDoNotDependOnTheAddress) {
  const std::vector<float> x = drawn(3000);
  for (const Isa isa : available_isas())
    for (std::size_t offset = 1; offset < 17; ++offset) {
      std::vector<float> moved(offset + x.size());
      std::ranges::copy(x, moved.begin() + static_cast<std::ptrdiff_t>(offset));
      EXPECT_EQ(sum(isa, x.size(), moved.data() + offset), sum(isa, x.size(), x.data()))
          << to_string(isa);
    }
}

TEST(ReductionKernels, SumChannelsOfPlanesAndOfSingleElements) {
  constexpr std::int64_t samples = 3, channels = 37;
  for (const std::int64_t inner : {1, 5, 64}) {
    const auto x = drawn(static_cast<std::size_t>(samples * channels * inner));
    std::vector<double> exact(channels);
    for (std::size_t i = 0; i < x.size(); ++i)
      exact[i / static_cast<std::size_t>(inner) % channels] += x[i];
    for (const Isa isa : available_isas()) {
      std::vector<float> sums(channels);
      kernel_table(isa).reductions.channel_sums(samples, channels, inner, {}, x.data(),
                                                sums.data());
      for (std::size_t c = 0; c < channels; ++c)
        EXPECT_NEAR(sums[c], exact[c], 3e-7 * exact[c]) << "channel " << c << ", inner " << inner;
    }
  }
}

}  // namespace
}  // namespace penstock::graph
