// These tests check the numbers that the monitor reads from an answer of a process, and the rates
// that it computes from two answers.

#include "apps/monitor/observation.hpp"

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace monitor {
namespace {

std::string status(std::int64_t now_ns, std::int64_t samples, std::int64_t busy_ns,
                   const std::string& in_call = "null") {
  return R"({"penstock_monitor": 1, "version": "0.1.0", "pid": 7, "now_ns": )" +
         std::to_string(now_ns) +
         R"(, "models": [{"model": 1, "name": "net", "mode": "training", "updates": 3, "calls": 2,
  "samples": )" +
         std::to_string(samples) + R"(, "in_call_since_ns": )" + in_call +
         R"(, "last_call": {"seconds": 0.5, "samples": 10, "loss": 0.25},
  "ipus": [{"ipu": 0, "replica": 0, "stages": [0, 1], "busy_ns": )" +
         std::to_string(busy_ns) + R"(, "memory_bytes": 100, "memory_budget_bytes": null}]}]})";
}

std::vector<Observation> observed(const std::string& answer) {
  return {read_status(answer)};
}

TEST(Observation, HasWhatTheProcessAnswers) {
  const Observation seen = read_status(status(5, 40, 9));
  EXPECT_EQ(seen.pid, 7);
  EXPECT_EQ(seen.now_ns, 5);
  ASSERT_EQ(seen.models.size(), 1U);
  const RunningModel& model = seen.models[0];
  EXPECT_EQ(model.name, "net");
  EXPECT_EQ(model.mode, "training");
  EXPECT_EQ(model.updates, 3);
  EXPECT_EQ(model.samples, 40);
  EXPECT_EQ(model.in_call_since_ns, std::nullopt);
  EXPECT_EQ(model.last_call->loss, 0.25);
  ASSERT_EQ(model.ipus.size(), 1U);
  EXPECT_EQ(model.ipus[0].stages, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(model.ipus[0].memory_budget_bytes, std::nullopt);
}

TEST(Observation, HasNoCharactersThatSteerATerminal) {
  std::string answer = status(5, 40, 9);
  answer.replace(answer.find("\"net\""), 5, R"("\u001b[2J\nnet")");
  EXPECT_EQ(read_status(answer).models[0].name, "?[2J?net");
  const ProcessWaits waits = read_waits(
      R"({"penstock_monitor": 1, "version": "0.1.0", "pid": 7, "now_ns": 1, "pipelines": [
          {"model": 1, "name": "n\u0007", "mode": "training", "in_call": true, "asked": 1,
           "silent": 0, "cycle": ["a\u001b"], "waits": [{"actor": "w\r", "text": "t\u001b[1m",
           "from": ["f\u0008"], "since_seconds": 1}]}]})");
  const PipelineWaits& pipeline = waits.pipelines.at(0);
  EXPECT_EQ(pipeline.name, "n?");
  EXPECT_EQ(pipeline.cycle, std::vector<std::string>{"a?"});
  EXPECT_EQ(pipeline.waits.at(0).actor, "w?");
  EXPECT_EQ(pipeline.waits.at(0).text, "t?[1m");
  EXPECT_EQ(pipeline.waits.at(0).from, std::vector<std::string>{"f?"});
}

TEST(Observation, IsRefusedIfItIsNone) {
  for (const std::string answer :
       {"", "{", "[]", "{}", R"({"penstock_monitor": 2})", R"({"penstock_monitor": "1"})",
        R"({"penstock_monitor": 1, "pid": 1.5})", R"({"penstock_monitor": 1, "pid": 1})"}) {
    EXPECT_THROW(read_status(answer), penstock::Error) << answer;
    EXPECT_THROW(read_waits(answer), penstock::Error) << answer;
  }
}

TEST(Rates, AreOverTheTimeBetweenTwoObservations) {
  const std::int64_t second = 1'000'000'000;
  std::vector<Observation> now = observed(status(3 * second, 140, 2 * second));
  add_rates(now, observed(status(second, 100, second / 2)));
  EXPECT_DOUBLE_EQ(now[0].models[0].samples_per_second, 20);
  EXPECT_DOUBLE_EQ(now[0].models[0].ipus[0].busy, 0.75);
}

TEST(Rates, OfALongCallAreThoseOfTheLastOne) {
  std::vector<Observation> now = observed(status(2'000'000'000, 100, 0, "5"));
  add_rates(now, observed(status(1'000'000'000, 100, 0)));
  EXPECT_DOUBLE_EQ(now[0].models[0].samples_per_second, 20);
  now = observed(status(2'000'000'000, 100, 0));
  add_rates(now, observed(status(1'000'000'000, 100, 0)));
  EXPECT_DOUBLE_EQ(now[0].models[0].samples_per_second, 0) << "nobody calls it";
}

TEST(Rates, OfACallThatIsLongerThanTheTimeBetweenTwoObservationsAreThoseOfTheCall) {
  const auto after_long_call = [](std::int64_t now_ns, std::int64_t samples) {
    std::string answer = status(now_ns, samples, 0);
    const std::string seconds = "\"seconds\": 0.5";
    return answer.replace(answer.find(seconds), seconds.size(), "\"seconds\": 10");
  };
  std::vector<Observation> now = observed(after_long_call(2'000'000'000, 110));
  add_rates(now, observed(after_long_call(1'000'000'000, 100)));
  EXPECT_DOUBLE_EQ(now[0].models[0].samples_per_second, 1);
}

TEST(Rates, AreNoneOfWhatWasNotThereBefore) {
  std::vector<Observation> now = observed(status(2'000'000'000, 100, 7));
  add_rates(now, {});
  EXPECT_EQ(now[0].models[0].samples_per_second, 0);
  EXPECT_EQ(now[0].models[0].ipus[0].busy, 0);
}

TEST(Waits, HaveWhatTheProcessAnswers) {
  const ProcessWaits waits = read_waits(
      R"({"penstock_monitor": 1, "version": "0.1.0", "pid": 7, "now_ns": 1, "pipelines": [
  {"model": 1, "name": "net", "mode": "training", "in_call": true, "asked": 4, "silent": 1,
   "waits": [{"actor": "gate", "text": "waits", "from": ["a", "b"], "since_seconds": 1.5}],
   "cycle": ["gate"]}]})");
  ASSERT_EQ(waits.pipelines.size(), 1U);
  EXPECT_EQ(waits.pipelines[0].silent, 1);
  ASSERT_EQ(waits.pipelines[0].waits.size(), 1U);
  EXPECT_EQ(waits.pipelines[0].waits[0].from, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(waits.pipelines[0].waits[0].since_seconds, 1.5);
}

}  // namespace
}  // namespace monitor
