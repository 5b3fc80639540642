#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "penstock/output_file.hpp"
#include "penstock/chrome_trace.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::file_content;
using testing::TemporaryDirectory;
using Json = nlohmann::json;

Json written(std::span<const TraceEvent> events) {
  TemporaryDirectory directory;
  const auto path = directory / "trace.json";
  write_chrome_trace(path.string(), events);
  return Json::parse(file_content(path)).at("traceEvents");
}

const std::vector<TraceEvent> events{
    {.ipu = 3,
     .replica = 1,
     .stage = 0,
     .micro_batch = 12,
     .begin_ns = 7'000'500,
     .end_ns = 7'002'750},
    {.ipu = 1,
     .stage = 1,
     .activity = Activity::backward,
     .micro_batch = 2,
     .begin_ns = 7'000'000,
     .end_ns = 7'000'001},
};

TEST(ChromeTrace, SaysHowManyEventsWereDroppedBeforeThese) {
  for (const std::uint64_t dropped : {std::uint64_t{0}, std::uint64_t{1} << 40}) {
    const TemporaryDirectory directory;
    const auto path = directory / "trace.json";
    write_chrome_trace(path.string(), events, dropped);
    EXPECT_EQ(Json::parse(file_content(path)).at("otherData").at("dropped_events"), dropped);
  }
}

// D13 of docs/reference.md: viewers of Chrome's traces show a row for each IPU.
TEST(ChromeTrace, NamesARowPerIpu) {
  const Json trace = written(events);
  ASSERT_EQ(trace.size(), 4u);
  EXPECT_EQ(trace[0], Json::parse(R"({"ph":"M","pid":0,"tid":1,"name":"thread_name",
                                      "args":{"name":"IPU 1"}})"));
  EXPECT_EQ(trace[1].at("args").at("name"), "IPU 3");
}

TEST(ChromeTrace, TimesAreMicrosecondsSinceTheFirstEvent) {
  const Json trace = written(events);
  EXPECT_EQ(trace[2].at("ts"), 0.5);
  EXPECT_EQ(trace[2].at("dur"), 2.25);
  EXPECT_EQ(trace[3].at("ts"), 0);
  EXPECT_EQ(trace[3].at("dur"), 0.001);
}

TEST(ChromeTrace, AnEventTellsStageReplicaDirectionAndMicroBatch) {
  const Json trace = written(events);
  EXPECT_EQ(trace[2].at("name"), "F s0 mb12");
  EXPECT_EQ(trace[2].at("tid"), 3);
  EXPECT_EQ(trace[2].at("args"), Json::parse(R"({"stage":0,"replica":1,"direction":"forward",
                                                 "micro_batch":12})"));
  EXPECT_EQ(trace[3].at("name"), "B s1 mb2");
  EXPECT_EQ(trace[3].at("args").at("direction"), "backward");
}

TEST(ChromeTrace, WithoutEventsIsEmpty) {
  EXPECT_EQ(written({}), Json::array());
}

TEST(ChromeTrace, APathThatCannotBeWrittenIsNamed) {
  const std::string text = testing::refusal(
      Errc::io_error, [] { write_chrome_trace("/nonexistent/trace.json", events); });
  EXPECT_NE(text.find("/nonexistent/trace.json"), std::string::npos) << text;
}

TEST(ChromeTrace, IntoAnOpenFileAppearsWhenThatIsCommitted) {
  TemporaryDirectory directory;
  OutputFile file(directory / "trace.json");
  write_chrome_trace(file, events);
  EXPECT_FALSE(std::filesystem::exists(directory / "trace.json"));
  file.commit();
  EXPECT_EQ(Json::parse(file_content(directory / "trace.json")).at("traceEvents"), written(events));
}

}  // namespace
}  // namespace penstock
