#include "engine/values/log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

RuntimeOptions told_to(std::function<void(std::string_view)> log) {
  RuntimeOptions options;
  options.log = std::move(log);
  options.log_level = LogLevel::debug;
  return options;
}

using Lines = std::vector<std::string>;

TEST(Log, LeavesOutWhatItsFunctionCauses) {
  Lines lines;
  Log log;
  log = Log(told_to([&](std::string_view line) {
    lines.emplace_back(line);
    log(LogLevel::error, "more");
  }));
  log(LogLevel::info, "one");
  log(LogLevel::info, "two");
  EXPECT_EQ(lines, (Lines{"one", "two"}));
}

TEST(Log, OutlivesAnExceptionOfItsFunction) {
  Lines lines;
  const Log log(told_to([&](std::string_view line) {
    lines.emplace_back(line);
    if (line == "one") throw std::runtime_error("no");
  }));
  EXPECT_THROW(log(LogLevel::info, "one"), std::runtime_error);
  log(LogLevel::info, "two");
  EXPECT_EQ(lines, (Lines{"one", "two"}));
}

TEST(Log, WaitsForTheEndOfACallAndOfThoseAroundIt) {
  Lines lines;
  const Log log(told_to([&](std::string_view line) { lines.emplace_back(line); }));
  const int result = log.after([&] {
    log(LogLevel::info, "one");
    log.after([&] { log(LogLevel::info, "two"); });
    EXPECT_EQ(lines, Lines{});
    return 3;
  });
  EXPECT_EQ(result, 3);
  EXPECT_EQ(lines, (Lines{"one", "two"}));
}

TEST(Log, LetsWhatACallThrowGoFirst) {
  Lines lines;
  const Log log(told_to([&](std::string_view line) {
    lines.emplace_back(line);
    throw std::runtime_error("no");
  }));
  const auto fail = [&] {
    log(LogLevel::info, "one");
    throw 1;
  };
  EXPECT_THROW(log.after(fail), int);
  EXPECT_THROW(log.after([&] { log(LogLevel::info, "two"); }), std::runtime_error);
  EXPECT_EQ(lines, (Lines{"one", "two"}));
}

TEST(Log, WaitsForTheEndOfACallThatHasAnotherLogOrNone) {
  Lines lines;
  const Log log(told_to([&](std::string_view line) { lines.emplace_back(line); }));
  const Log throwing(told_to([](std::string_view) { throw std::runtime_error("no"); }));
  for (const Log& other : {Log(), throwing}) {
    lines.clear();
    const auto call = [&] {
      other(LogLevel::info, "of its own");
      log(LogLevel::info, "one");
      EXPECT_EQ(lines, Lines{});
    };
    if (other.takes(LogLevel::info))
      EXPECT_THROW(other.after(call), std::runtime_error);
    else
      other.after(call);
    EXPECT_EQ(lines, Lines{"one"});
  }
}

TEST(Log, AsksTheEnvironmentOnlyWhereItMatters) {
  ::setenv("PENSTOCK_LOG_LEVEL", "loud", 1);
  RuntimeOptions options = told_to([](std::string_view) {});
  EXPECT_TRUE(Log(options).takes(LogLevel::debug)) << "it has a level of its own";
  options.log_level = LogLevel::automatic;
  EXPECT_EQ(testing::refusal(Errc::invalid_argument, [&] { Log{options}; }),
            "PENSTOCK_LOG_LEVEL: expected one of debug, info, warning, error, off, got \"loud\"");
  EXPECT_FALSE(Log(RuntimeOptions{}).takes(LogLevel::error)) << "without a log nobody asks";
  ::setenv("PENSTOCK_LOG_LEVEL", "", 1);
  EXPECT_TRUE(Log(options).takes(LogLevel::debug)) << "empty is unset";
  ::unsetenv("PENSTOCK_LOG_LEVEL");
}

}  // namespace
}  // namespace penstock
