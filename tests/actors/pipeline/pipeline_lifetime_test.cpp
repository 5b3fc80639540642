// In these tests, engines come and go in a process that lives on.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "actors/system/actor_system.hpp"
#include "graph/values/memory.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/small_engine.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::actors {
namespace {

using testing::Latch;
using testing::ProbeHook;
using testing::ProbeRun;
using testing::refusal;
using testing::run_step;
using testing::same_bits;
using testing::SmallEngine;
using testing::SmallEngineOptions;
using testing::thread_count;
using testing::threads_fall_to;

const SmallEngineOptions threaded{.replicas = 2, .offload = true, .deterministic = false};

// The options of a hundred engines are drawn, and the other engines are small. There are fewer
// engines under sanitizers, where an engine takes ten times as long.
constexpr int engines = testing::sanitized ? 200 : 1000;
constexpr int draw_each = testing::sanitized ? 2 : 10;

SmallEngineOptions drawn(std::mt19937& random) {
  const char* const schedules[] = {"grouped", "interleaved", "sequential"};
  return {.schedule = schedules[random() % 3],
          .replicas = 1 + static_cast<std::int64_t>(random() % 3),
          .gradient_accumulation = 1 + static_cast<std::int64_t>(random() % 8),
          .max_grad_norm = random() % 2 ? 0.05 : 0,
          .offload = random() % 2 == 0,
          .trace = true,
          .threads = 1 + static_cast<int>(random() % 3),
          .deterministic = false};
}

/// Begins one to six updates, and then either waits until they are done or, after a short random
/// time, destroys the engine, whether it is running a program, an update or a fetch by then.
void run_and_end(const SmallEngineOptions& options, std::mt19937& random) {
  SmallEngine engine(options);
  engine.begin(1 + static_cast<std::int64_t>(random() % 6));
  if (random() % 2 == 0)
    engine.runtime().finish_step();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2500));
}

// 4.5: IPUs come and go with their engine, and leave no thread, no memory and no output behind.
TEST(PipelineLifetime, AThousandEnginesLeaveNothingBehind) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  SmallEngine(threaded).step(1);
  const std::size_t threads = thread_count();
  const std::uint64_t bytes = memory_counters().bytes_live;
  const SmallEngineOptions smallest{.stages = 1, .threads = 1, .deterministic = false};
  std::mt19937 random(1);
  for (int i = 0; i < engines; ++i)
    run_and_end(i % draw_each == 0 ? drawn(random) : smallest, random);
  EXPECT_TRUE(threads_fall_to(threads));
  EXPECT_EQ(memory_counters().bytes_live, bytes);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// B6 of docs/reference.md: several engines live at once, and share no state of the process.
TEST(PipelineLifetime, SeveralEnginesOfOneProcessComputeTheSame) {
  std::vector<std::unique_ptr<SmallEngine>> engines;
  for (int i = 0; i < 4; ++i) engines.push_back(std::make_unique<SmallEngine>(threaded));
  for (const auto& engine : engines) engine->begin(2);
  std::vector<std::vector<Tensor>> results;
  for (const auto& engine : engines) {
    engine->runtime().finish_step();
    results.push_back(engine->runtime().read_variables());
  }
  for (const auto& result : results) EXPECT_TRUE(same_bits(result, results[0]));
}

TEST(PipelineLifetime, EndsWhileAKernelRuns) {
  Latch running, release;
  std::thread releaser;
  {
    const ProbeHook hook([&](const ProbeRun& run) {
      if (run.stage != 2) return;
      running.open();
      EXPECT_TRUE(release.wait());
    });
    SmallEngine engine(threaded);
    engine.begin(1);
    ASSERT_TRUE(running.wait());
    releaser = std::thread([&] { release.open(); });
  }
  releaser.join();
}

TEST(PipelineLifetime, KeepsTheAnswerOfACallUntilItIsTaken) {
  SmallEngine engine;
  engine.begin(1);
  engine.runtime().system().run_pending();
  ASSERT_TRUE(engine.runtime().answered());
  EXPECT_NE(refusal(Errc::busy, [&] { engine.begin(1); }), "accepted");
  EXPECT_EQ(engine.runtime().finish_step().outputs.size(), 2U);
  EXPECT_EQ(engine.step(1).size(), 2U);
}

TEST(PipelineLifetime, EndsUnused) {
  const std::size_t threads = thread_count();
  for (const bool training : {true, false}) {
    SmallEngineOptions options = threaded;
    options.training = training;
    SmallEngine engine(options);
  }
  EXPECT_TRUE(threads_fall_to(threads));
}

TEST(PipelineLifetime, AllocatesNoTensorMemoryOnceItIsWarm) {
  for (const bool offload : {false, true})
    for (const bool anchors : {false, true}) {
      const std::int64_t windows = offload == anchors ? 3 : 1;
      SmallEngineOptions options = threaded;
      options.offload = offload;
      options.anchors = anchors;
      SmallEngine engine(options);
      const std::vector<Tensor> inputs = engine.inputs(windows);
      const auto step = [&] { run_step(engine.runtime(), inputs, engine.micro_batches(windows)); };
      for (int warm = 0; warm < 2; ++warm) step();
      const std::uint64_t blocks = memory_counters().blocks_allocated;
      for (int i = 3; i <= 20; ++i) {
        step();
        ASSERT_EQ(memory_counters().blocks_allocated, blocks) << "step " << i;
      }
    }
}

}  // namespace
}  // namespace penstock::actors
