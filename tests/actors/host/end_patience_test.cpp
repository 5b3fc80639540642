#include "actors/host/end_patience.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>

#include "tests/support/test_clock.hpp"

namespace penstock::actors {
namespace {

using testing::TestClock;

constexpr double patience_seconds = 1;

/// A PatientHost is a host that waits with EndPatience. Time passes on the host's clock only during
/// a wait.
struct PatientHost {
  PatientHost() { pulse.watch({ipu}); }

  /// Waits for an event that happens at wait number `most`. Before each wait, `meanwhile` is called
  /// with the number of the wait; waits are counted from 1. Returns whether the event has happened.
  bool wait(
      int most, const std::function<void(int)>& meanwhile = [](int) {}) {
    waits = 0;
    return EndPatience(pulse, patience_seconds, ipu_time).until([&](double seconds) {
      meanwhile(++waits);
      TestClock::pass(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
      return waits == most;
    });
  }

  IpuTime ipu_time = IpuTime::limited;
  Bell bell;
  PipelinePulse pulse{bell, &TestClock::now};
  std::shared_ptr<IpuPulse> ipu = std::make_shared<IpuPulse>(0);
  int waits = 0;
};

constexpr int forever = 1'000'000;

const graph::Op op_of_a_thousand_seconds{
    .name = "conv2d", .cost = [](const graph::Attributes&, graph::Types, graph::Types) {
      return graph::Cost{.flops = 1e10};
    }};
const graph::Instruction long_instruction{.name = "conv1", .op = &op_of_a_thousand_seconds};

TEST(EndPatience, EndsWhereNothingMoves) {
  PatientHost patient;
  EXPECT_FALSE(patient.wait(forever));
  EXPECT_EQ(patient.waits, 1);
}

TEST(EndPatience, LastsAsLongAsSomethingMoves) {
  PatientHost patient;
  const std::function<void()> moves[] = {[&] { patient.pulse.beat(); },
                                         [&] { patient.ipu->heartbeat().beat(); }};
  for (const auto& move : moves) {
    EXPECT_TRUE(patient.wait(50, [&](int) { move(); }));
    EXPECT_FALSE(patient.wait(forever, [&](int wait) {
      if (wait <= 20) move();
    }));
    EXPECT_EQ(patient.waits, 21) << "nothing has moved in the last one";
  }
}

TEST(EndPatience, LastsAsLongAsAnIpuMayBeAtWork) {
  PatientHost patient;
  patient.ipu->begin({IpuTask::forward});
  patient.ipu->heartbeat().begin(&long_instruction);
  EXPECT_TRUE(patient.wait(50));
  patient.ipu->end();
  EXPECT_FALSE(patient.wait(forever)) << "the IPU has nothing to do";
  EXPECT_EQ(patient.waits, 1);
}

TEST(EndPatience, EndsWhereAnIpuIsAtWorkForLongerThanItMay) {
  PatientHost patient;
  patient.ipu->begin({IpuTask::update});
  EXPECT_FALSE(patient.wait(forever));
  EXPECT_EQ(patient.waits, 10);
}

TEST(EndPatience, LastsForAnIpuAtWorkHoweverLongWhereItsTimeIsUnlimited) {
  PatientHost patient;
  patient.ipu_time = IpuTime::unlimited;
  patient.ipu->begin({IpuTask::update});
  EXPECT_TRUE(patient.wait(10'000));
  patient.ipu->end();
  EXPECT_FALSE(patient.wait(forever)) << "the IPU has nothing to do";
  EXPECT_EQ(patient.waits, 1);
}

// The first call of wait() gives the IPU all its time. The second call waits only once for
// `stall_seconds`, because no IPU is given its time twice.
TEST(EndPatience, BeginsAnewOnlyForAMoment) {
  PatientHost patient;
  patient.ipu->begin({IpuTask::update});
  EXPECT_FALSE(patient.wait(forever));
  EXPECT_FALSE(patient.wait(forever));
  EXPECT_EQ(patient.waits, 1);
}

TEST(EndPatience, WaitsForNothingWhereNothingCanMoveByItself) {
  PatientHost patient;
  patient.ipu->begin({IpuTask::forward});
  patient.ipu->heartbeat().begin(&long_instruction);
  int asked = 0;
  EXPECT_FALSE(EndPatience(patient.pulse, 0, IpuTime::unlimited).until([&](double seconds) {
    EXPECT_EQ(seconds, 0);
    ++asked;
    return false;
  }));
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace penstock::actors
