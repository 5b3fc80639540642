#include "actors/host/pipeline_pulse.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/test_clock.hpp"

namespace penstock::actors {
namespace {

using std::chrono::seconds;
using testing::TestClock;

struct Pulse {
  Bell bell;
  PipelinePulse pulse{bell, &TestClock::now};
};

TEST(PipelinePulse, BeatsWithWhatActorsCountAndWithWhatIpusDo) {
  Pulse p;
  const auto ipus = std::vector{std::make_shared<IpuPulse>(0), std::make_shared<IpuPulse>(1)};
  p.pulse.watch({ipus[0], ipus[1]});
  auto before = p.pulse.beats();
  p.pulse.beat();
  EXPECT_NE(p.pulse.beats(), before);
  for (const auto& ipu : ipus) {
    before = p.pulse.beats();
    ipu->heartbeat().beat();
    EXPECT_NE(p.pulse.beats(), before);
  }
}

TEST(PipelinePulse, IsStillSinceTheFirstLookThatSawItsLastBeat) {
  Pulse p;
  TestClock::pass(seconds(2));
  EXPECT_EQ(p.pulse.look().seconds(), 2);
  p.pulse.beat();
  TestClock::pass(seconds(3));
  EXPECT_EQ(p.pulse.look().seconds(), 0) << "it may have beaten just now";
  TestClock::pass(seconds(4));
  const Stillness still = p.pulse.look();
  EXPECT_EQ(still.seconds(), 4);
  EXPECT_EQ(still.seen(), p.pulse.beats());
}

TEST(PipelinePulse, KeepsTheLastExcuseUntilItIsForgottenAndRingsWithIt) {
  Pulse p;
  EXPECT_FALSE(p.pulse.is_excused(p.pulse.beats()));
  bool first = true;
  EXPECT_TRUE(p.bell.wait(3600, [&] {
    if (std::exchange(first, false)) {
      p.pulse.excuse(p.pulse.beats());
      return false;
    }
    return p.pulse.is_excused(p.pulse.beats());
  }));
  p.pulse.beat();
  EXPECT_FALSE(p.pulse.is_excused(p.pulse.beats())) << "the excuse is for another silence";
  p.pulse.excuse(p.pulse.beats());
  p.pulse.forget_excuse();
  EXPECT_FALSE(p.pulse.is_excused(p.pulse.beats()));
  EXPECT_EQ(p.pulse.excuses(), 2U);
}

}  // namespace
}  // namespace penstock::actors
