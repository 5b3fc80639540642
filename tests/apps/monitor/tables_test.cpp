// These tests check the tables that the monitor shows, as text.

#include "apps/monitor/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "apps/monitor/table.hpp"

namespace monitor {
namespace {

Observation process() {
  RunningModel model{.model = 1,
                     .name = "net",
                     .mode = "training",
                     .updates = 30,
                     .calls = 3,
                     .samples = 1200,
                     .in_call_since_ns = 1'500'000'000,
                     .last_call = LastCall{.seconds = 0.25, .samples = 400, .loss = 0.125},
                     .ipus = {Ipu{.ipu = 0,
                                  .stages = {0, 1},
                                  .memory_bytes = 3 << 20,
                                  .memory_budget_bytes = 1 << 30,
                                  .busy = 0.93}},
                     .samples_per_second = 1600};
  return {.pid = 4711,
          .now_ns = 2'000'000'000,
          .facts = {.command = "trainer --with many words that take a lot of room on a line",
                    .user = "somebody",
                    .running_seconds = 3725},
          .models = {model}};
}

TEST(Tables, HaveARowPerIpuAndARowPerModel) {
  const std::vector<std::string> lines = tables_of({process()}, 0);
  EXPECT_TRUE(lines[1].starts_with("| penstock-monitor: 1 process, 1 model, 1 IPU  ")) << lines[1];
  const std::vector<std::string> expected{
      "| 4711 | trainer --with many words that take a lot of room on a line | 1h2m5s | somebody | "
      "net, training |   0 | 0,1    |  93% | 3.00 MiB of 1.00 GiB |    250 ms |",
      "| 4711 | net   | training |      30 |    1200 |      1600 | 0.1250 |      500 ms |"};
  for (const std::string& line : expected) EXPECT_EQ(std::ranges::count(lines, line), 1) << line;
}

TEST(Tables, FitIntoTheWidthOfTheTerminal) {
  for (const std::size_t width : {200, 150, 120}) {
    for (const std::string& line : tables_of({process()}, width))
      EXPECT_LE(characters_of(line), width) << line;
  }
}

TEST(Tables, SayThatThereIsNothingToSee) {
  EXPECT_EQ(tables_of({}, 80),
            std::vector<std::string>{"No process of this user has Penstock models on their IPUs."});
  EXPECT_EQ(text_of({}), "No process of this user has Penstock models on their IPUs.\n");
}

TEST(WaitsText, SaysWhoWaitsForWhatAndTheCycle) {
  PipelineWaits pipeline{
      .model = 1,
      .name = "net",
      .mode = "training",
      .in_call = true,
      .asked = 3,
      .silent = 1,
      .waits = {{.actor = "stage 0", .text = "waits for stage 1", .since_seconds = 2.5},
                {.actor = "stage 1", .text = "waits for stage 0"}},
      .cycle = {"stage 0", "stage 1"}};
  EXPECT_EQ(text_of({{.pid = 4711, .facts = {.command = "trainer"}, .pipelines = {pipeline}}}),
            "process 4711 (trainer):\n"
            "  training of \"net\", in a call:\n"
            "    stage 0 waits for stage 1, for 2.50 s\n"
            "    stage 1 waits for stage 0\n"
            "    1 of 3 actors have not answered within a second\n"
            "    the waits form a cycle: stage 0 -> stage 1 -> stage 0\n");
}

TEST(Texts, AreShort) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(std::int64_t{300} << 30), "300 GiB");
  EXPECT_EQ(seconds_text(0.0000125), "12.5 us");
  EXPECT_EQ(seconds_text(0.25), "250 ms");
  EXPECT_EQ(seconds_text(12.34), "12.3 s");
  EXPECT_EQ(seconds_text(63), "1m3s");
  EXPECT_EQ(seconds_text(86400), "24h0m0s");
  EXPECT_EQ(numbers_text({}), "");
  EXPECT_EQ(numbers_text({0, 1, 2, 3, 5, 7, 8}), "0-3,5,7,8");
}

TEST(Texts, HaveNothingButTheNumberWhateverThatIs) {
  EXPECT_EQ(seconds_text(std::numeric_limits<double>::max()), "forever");
  EXPECT_EQ(seconds_text(std::numeric_limits<double>::quiet_NaN()), "forever");
  EXPECT_EQ(seconds_text(-1e300), "-1.00e+306 us");
}

TEST(Tables, ShowAnyNumbersThatAnAnswerHolds) {
  using Limits = std::numeric_limits<std::int64_t>;
  Observation before = process();
  before.now_ns = Limits::min();
  before.models[0].samples = Limits::max();
  before.models[0].ipus[0].busy_ns = Limits::max();
  Observation now = process();
  now.now_ns = Limits::max();
  now.models[0].samples = Limits::min();
  now.models[0].in_call_since_ns = Limits::min();
  now.models[0].ipus[0].busy_ns = Limits::min();
  now.models[0].last_call = LastCall{.seconds = 1e300, .loss = 1e300};
  std::vector<Observation> processes{now};
  add_rates(processes, {before});
  std::string text;
  for (const std::string& line : tables_of(processes, 0)) text += line;
  for (const char* shown : {" forever |", " 1.0000e+300 |"})
    EXPECT_NE(text.find(shown), std::string::npos) << text;
}

TEST(Texts, AreCutAtTheEndOfACharacter) {
  EXPECT_EQ(cut("abcd", 4), "abcd");
  EXPECT_EQ(cut("abcde", 4), "abc…");
  EXPECT_EQ(cut("äöüßé", 3), "äö…");
  EXPECT_EQ(cut("abc", 0), "");
}

}  // namespace
}  // namespace monitor
