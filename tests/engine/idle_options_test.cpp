#include "engine/idle_options.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using Notes = std::vector<std::string>;

TEST(IdleOptions, D9_NameAPeriodUnderAModeThatHasNone) {
  const auto notes = [](OutputMode mode, int period) {
    return idle_options({.output = {.mode = mode, .period = period}}, 3);
  };
  for (const OutputMode mode :
       {OutputMode::automatic, OutputMode::final, OutputMode::all, OutputMode::sum}) {
    EXPECT_EQ(notes(mode, 3),
              Notes{"options.output.period changes nothing: options.output.mode is " +
                    std::string(to_string(mode)) + ", not every_n"});
    EXPECT_EQ(notes(mode, 1), Notes{});
  }
  EXPECT_EQ(notes(OutputMode::every_n, 3), Notes{});
  EXPECT_EQ(notes(OutputMode::every_n, 4),
            Notes{"options.output.mode every_n returns nothing: a call has 3 micro-batches per "
                  "replica, fewer than options.output.period, 4"});
}

TEST(IdleOptions, D9_NameTheAnchorToo) {
  const auto notes = [](OutputMode mode, int period) {
    const Anchor anchor{.name = "a", .tensor = "fc", .mode = mode, .period = period};
    return idle_options({.output = {.mode = OutputMode::every_n, .period = 2, .anchors = {anchor}}},
                        2);
  };
  EXPECT_EQ(notes(OutputMode::automatic, 2),
            Notes{"options.output.anchors[\"a\"].period changes nothing: "
                  "options.output.anchors[\"a\"].mode is automatic, not every_n"});
  EXPECT_EQ(notes(OutputMode::automatic, 1), Notes{});
  EXPECT_EQ(notes(OutputMode::every_n, 2), Notes{});
  EXPECT_EQ(notes(OutputMode::every_n, 3),
            Notes{"options.output.anchors[\"a\"].mode every_n returns nothing: a call has 2 "
                  "micro-batches per replica, fewer than options.output.anchors[\"a\"].period, 3"});
}

TEST(IdleOptions, NameAScheduleWhereStagesHaveTurnsAnyway) {
  const auto notes = [](Strategy strategy, PipelineSchedule schedule) {
    return idle_options({.topology = {.strategy = strategy, .schedule = schedule}}, 1);
  };
  for (const PipelineSchedule schedule :
       {PipelineSchedule::interleaved, PipelineSchedule::sequential}) {
    for (const Strategy strategy :
         {Strategy::sharded, Strategy::serial_phased, Strategy::parallel_phased})
      EXPECT_EQ(notes(strategy, schedule),
                Notes{"options.topology.schedule changes nothing with options.topology.strategy " +
                      std::string(to_string(strategy))});
    EXPECT_EQ(notes(Strategy::pipelined, schedule), Notes{});
  }
  EXPECT_EQ(notes(Strategy::sharded, PipelineSchedule::grouped), Notes{});
}

}  // namespace
}  // namespace penstock
