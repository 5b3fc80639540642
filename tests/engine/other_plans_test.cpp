// These tests check the options of plans for fewer samples.
#include "engine/other_plans.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/options.hpp"

namespace penstock {
namespace {

Options options_of(int batch, std::int64_t minimum_bytes) {
  Options options{.batch_size = batch};
  options.training.offload.activations = {.on = true, .minimum_bytes = minimum_bytes};
  return options;
}

TEST(OtherPlans, KeepTheSameActivationsInTheHostStoreHoweverFewTheSamples) {
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

TEST(OtherPlans, KeepNoActivationInTheHostStoreWhereTheMinimumIsTheLargestNumber) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const Options fewer = for_fewer_samples(options_of(1 << 30, largest), (1 << 30) - 1);
  const std::int64_t minimum = fewer.training.offload.activations.minimum_bytes;
  EXPECT_LE(minimum, largest);
  EXPECT_GE(minimum, largest - (largest >> 29));
}

/// A Made has the number of attempts to make a plan, and the lines of the log.
struct Made {
  int attempts = 0;
  std::vector<std::string> lines = {};
};

/// Makes a plan. The first `refusals` attempts are refused for want of the IPUs' memory.
Made made_after(int refusals, bool training, Options options = {.batch_size = 3}) {
  Made made;
  options.runtime.log_level = LogLevel::info;
  options.runtime.log = [&](std::string_view line) { made.lines.emplace_back(line); };
  const LogScope scope;
  make_fit(options, training, Log(options.runtime, scope), [&](const Options&) {
    if (made.attempts++ < refusals) throw graph::IpuMemoryRefusal({.lack = "too small"});
    return made.attempts;
  });
  return made;
}

const std::string begin =
    "the plan for micro-batches of 3 samples does not fit into the memory of the IPUs: it ";

TEST(OtherPlans, TellTheLogWhereOnlyLessMemoryMakesThemFit) {
  const std::string in_host_store = begin + "keeps more tensors in the host store";
  for (const bool training : {false, true}) {
    EXPECT_EQ(made_after(0, training).lines, std::vector<std::string>{});
    EXPECT_EQ(made_after(1, training).lines,
              std::vector<std::string>{in_host_store + ", and is slower"});
    EXPECT_THROW(made_after(3, training), graph::IpuMemoryRefusal);
  }
  EXPECT_EQ(made_after(2, true).lines,
            std::vector<std::string>{
                in_host_store + ", recomputes the activations of every stage but the last, has one "
                                "micro-batch in flight, and is slower"});
  EXPECT_EQ(
      made_after(2, false).lines,
      std::vector<std::string>{in_host_store + ", has one micro-batch in flight, and is slower"});
}

TEST(OtherPlans, TellTheLogNothingThatTheRefusedPlanDidToo) {
  const Offload whole_class{.on = true, .minimum_bytes = 0};
  Options options{.batch_size = 3};
  options.training.recompute = true;
  EXPECT_EQ(
      made_after(2, true, options).lines,
      std::vector<std::string>{begin + "keeps more tensors in the host store, has one micro-batch "
                                       "in flight, and is slower"});
  options.training.recompute_stages = {0};
  options.training.offload = {.optimizer_state = whole_class,
                              .accumulators = whole_class,
                              .activations = whole_class,
                              .weights = whole_class};
  options.topology.schedule = PipelineSchedule::sequential;
  EXPECT_EQ(made_after(2, true, options).lines,
            std::vector<std::string>{
                begin + "recomputes the activations of every stage but the last, and is slower"});
}

TEST(OtherPlans, OfInferenceRecomputeNothing) {
  for (const Options& less : with_less_memory(options_of(3, 0), false))
    EXPECT_FALSE(less.training.recompute);
}

TEST(OtherPlans, AreNotMadeInAnotherWayForALackOfTheHostsMemory) {
  Options options = options_of(3, 0);
  options.topology.ipu_memory_bytes = 1000;
  int attempts = 0;
  const auto fail = [&](const Options&) -> int {
    ++attempts;
    throw Error(Errc::out_of_memory, "compiling a model: not enough memory");
  };
  EXPECT_THROW(make_fit(options, true, Log(), fail), Error);
  EXPECT_EQ(attempts, 1);
}

}  // namespace
}  // namespace penstock
