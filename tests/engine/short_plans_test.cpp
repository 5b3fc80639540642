// What the options of a plan for fewer samples say.
#include "engine/short_plans.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "penstock/options.hpp"

namespace penstock {
namespace {

Options options_of(int batch, std::int64_t minimum_bytes) {
  Options options{.batch_size = batch};
  options.training.offload.activations = {.on = true, .minimum_bytes = minimum_bytes};
  return options;
}

TEST(ShortPlans, KeepTheSameActivationsInTheHostStoreHoweverFewTheSamples) {
  for (int whole = 1; whole <= 9; ++whole)
    for (int batch = 1; batch <= whole; ++batch)
      for (std::int64_t minimum = 0; minimum <= 80; ++minimum) {
        const Offload of_whole = options_of(whole, minimum).training.offload.activations;
        const Offload of_fewer =
            for_fewer_samples(options_of(whole, minimum), batch).training.offload.activations;
        for (std::int64_t sample = 4; sample <= 40; sample += 4)
          ASSERT_EQ(of_fewer.takes(batch * sample), of_whole.takes(whole * sample))
              << batch << " of " << whole << " samples of " << sample << " bytes, minimum "
              << minimum;
      }
}

TEST(ShortPlans, KeepNoActivationInTheHostStoreWhereTheMinimumIsTheLargestNumber) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const Options fewer = for_fewer_samples(options_of(1 << 30, largest), (1 << 30) - 1);
  const std::int64_t minimum = fewer.training.offload.activations.minimum_bytes;
  EXPECT_LE(minimum, largest);
  EXPECT_GE(minimum, largest - (largest >> 29));
}

}  // namespace
}  // namespace penstock
