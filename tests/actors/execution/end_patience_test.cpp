#include "actors/execution/end_patience.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>

namespace penstock::actors {
namespace {

constexpr double stall_seconds = 0.001;

struct PatientHost {
  PatientHost() { host.watch({ipu}); }

  /// Waits for something that never comes, or comes after `most` waits, before each of which
  /// `meanwhile` happens. Returns whether it has come.
  bool wait(
      int most, const std::function<void()>& meanwhile = [] {}) {
    waits = 0;
    return EndPatience(host, stall_seconds).until([&](double seconds) {
      meanwhile();
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      return ++waits == most;
    });
  }

  HostPort host;
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
  EXPECT_LT(patient.waits, forever);
}

TEST(EndPatience, LastsAsLongAsSomethingMoves) {
  PatientHost patient;
  EXPECT_TRUE(patient.wait(50, [&] { patient.host.progress(); }));
  EXPECT_TRUE(patient.wait(50, [&] { patient.ipu->heartbeat().beat(); }));
}

TEST(EndPatience, LastsAsLongAsAnIpuMayBeAtWork) {
  PatientHost patient;
  patient.ipu->begin({IpuTask::forward});
  patient.ipu->heartbeat().begin(&long_instruction);
  EXPECT_TRUE(patient.wait(50));
  patient.ipu->end();
  EXPECT_FALSE(patient.wait(forever)) << "the IPU has nothing to do";
}

TEST(EndPatience, EndsWhereAnIpuIsAtWorkForLongerThanItMay) {
  PatientHost patient;
  patient.ipu->begin({IpuTask::update});
  EXPECT_FALSE(patient.wait(forever));
  EXPECT_GE(patient.host.still_seconds(), 10 * stall_seconds);
}

// Each wait is for `stall_seconds` at least, and no IPU is given its time twice.
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
  EXPECT_FALSE(EndPatience(patient.host, 0).until([&](double seconds) {
    EXPECT_EQ(seconds, 0);
    ++asked;
    return false;
  }));
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace penstock::actors
