#include "actors/host/ipu_pulse.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <vector>

#include "graph/values/stopwatch.hpp"

namespace penstock::actors {
namespace {

graph::Op op_of(double flops) {
  static double flops_now;
  flops_now = flops;
  return {.name = "conv2d", .cost = [](const graph::Attributes&, graph::Types, graph::Types) {
            return graph::Cost{.flops = flops_now};
          }};
}

TEST(IpuPulse, BeatsWithWhateverTheIpuDoes) {
  IpuPulse pulse(3);
  EXPECT_EQ(pulse.ipu(), 3);
  std::uint64_t before = pulse.beats();
  const auto expect_beat = [&] {
    EXPECT_GT(pulse.beats(), before);
    before = pulse.beats();
  };
  pulse.begin({IpuTask::forward, 0, 1, 2});
  expect_beat();
  const graph::Instruction instruction;
  pulse.heartbeat().begin(&instruction);
  expect_beat();
  pulse.heartbeat().beat_of_piece();
  expect_beat();
  pulse.end();
  expect_beat();
}

TEST(IpuPulse, SaysWhatTheIpuIsInTheMiddleOf) {
  IpuPulse pulse(3);
  EXPECT_FALSE(pulse.moment());
  pulse.begin({IpuTask::backward, 1, 2, 7});
  EXPECT_EQ(to_string(*pulse.moment()), "backward of micro-batch 7 of stage 2 of replica 1");
  const graph::Op op = op_of(0);
  const graph::Instruction instruction{.name = "conv1", .op = &op};
  pulse.heartbeat().begin(&instruction);
  EXPECT_EQ(to_string(*pulse.moment()),
            "conv2d \"conv1\" of backward of micro-batch 7 of stage 2 of replica 1");
  pulse.end();
  EXPECT_FALSE(pulse.moment());
  pulse.begin({IpuTask::load, 0, 0, 5});
  EXPECT_EQ(to_string(*pulse.moment()),
            "the load of the weights for micro-batch 5 of stage 0 of replica 0");
  pulse.begin({IpuTask::update, 0, 4});
  EXPECT_EQ(to_string(*pulse.moment()), "the weight update of stage 4 of replica 0");
}

TEST(IpuPulse, CountsTheTimeOfWorkThatHasEndedAndOfWorkThatIsUnderWay) {
  IpuPulse pulse(0);
  EXPECT_EQ(pulse.busy_ns(), 0);
  EXPECT_EQ(pulse.busy_since_ns(), 0);
  for (int work = 0; work < 3; ++work) {
    const std::int64_t before = pulse.busy_ns(), begin = steady_ns();
    pulse.begin({IpuTask::forward});
    const std::int64_t since = pulse.busy_since_ns();
    EXPECT_GE(since, begin);
    EXPECT_LE(since, steady_ns());
    while (steady_ns() < since + 1000) {
    }
    EXPECT_GE(pulse.busy_ns(), before + 1000) << "the work is under way";
    pulse.end();
    const std::int64_t busy = pulse.busy_ns();
    EXPECT_GE(busy, before + 1000);
    EXPECT_LE(busy, before + steady_ns() - begin);
    EXPECT_EQ(pulse.busy_since_ns(), 0);
    EXPECT_EQ(pulse.busy_ns(), busy) << "it rests";
  }
}

TEST(IpuPulse, IsAtWorkForAsLongAsItIsAllowed) {
  const auto idle = std::make_shared<IpuPulse>(0), busy = std::make_shared<IpuPulse>(1);
  const std::vector<std::shared_ptr<const IpuPulse>> ipus{idle, busy};
  EXPECT_FALSE(any_at_work(ipus, 0, 60));
  busy->begin({IpuTask::update});
  EXPECT_TRUE(any_at_work(ipus, 599, 60));
  EXPECT_FALSE(any_at_work(ipus, 601, 60));
  busy->end();
  EXPECT_FALSE(any_at_work(ipus, 0, 60));
}

TEST(IpuPulse, AllowsTheLeastWhereThereIsNoMemoryToEstimateTheWork) {
  const graph::Op op{.name = "conv2d",
                     .cost = [](const graph::Attributes&, graph::Types,
                                graph::Types) -> graph::Cost { throw std::bad_alloc(); }};
  const graph::Instruction instruction{.name = "conv1", .op = &op};
  EXPECT_EQ(seconds_allowed({{IpuTask::forward}, &instruction}, 60), 600);
}

TEST(IpuPulse, AllowsMoreTimeForMoreWork) {
  EXPECT_EQ(seconds_allowed({{IpuTask::update}}, 60), 600);
  for (const double flops : {0.0, 1e6, 1e9, 1e13}) {
    const graph::Op op = op_of(flops);
    const graph::Instruction instruction{.name = "conv1", .op = &op};
    EXPECT_DOUBLE_EQ(seconds_allowed({{IpuTask::forward}, &instruction}, 0.001),
                     0.01 + flops / 1e7);
  }
}

}  // namespace
}  // namespace penstock::actors
