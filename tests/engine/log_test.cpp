#include "engine/log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
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

TEST(Log, LetsNoThreadWaitForAnother) {
  Lines lines;
  Log log;
  log = Log(told_to([&](std::string_view line) {
    if (line == "one") std::thread([&] { log(LogLevel::error, "two"); }).join();
    lines.emplace_back(line);
  }));
  log(LogLevel::info, "one");
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

TEST(Log, TellsALineAtATimeAndEachOne) {
  int lines = 0;  // under whatever keeps them apart
  const Log log(told_to([&](std::string_view) { ++lines; }));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) log(LogLevel::info, "line");
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines, 2000);
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
