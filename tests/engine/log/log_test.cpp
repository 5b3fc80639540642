#include "engine/log/log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "graph/values/out_of_memory.hpp"
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

const LogScope scope, other_scope;

TEST(Log, LeavesOutWhatItsFunctionCauses) {
  Lines lines;
  Log log;
  log = Log(told_to([&](std::string_view line) {
              lines.emplace_back(line);
              log(LogLevel::error, "more");
            }),
            scope);
  log(LogLevel::info, "one");
  log(LogLevel::info, "two");
  EXPECT_EQ(lines, (Lines{"one", "two"}));
}

TEST(Log, OutlivesAnExceptionOfItsFunction) {
  Lines lines;
  const Log log(told_to([&](std::string_view line) {
                  lines.emplace_back(line);
                  if (line == "one") throw std::runtime_error("no");
                }),
                scope);
  EXPECT_THROW(log(LogLevel::info, "one"), std::runtime_error);
  log(LogLevel::info, "two");
  EXPECT_EQ(lines, (Lines{"one", "two"}));
}

TEST(Log, WaitsForTheEndOfACallAndOfThoseAroundIt) {
  Lines lines;
  const Log log(told_to([&](std::string_view line) { lines.emplace_back(line); }), scope);
  const int result = log.after(scope, [&] {
    log(LogLevel::info, "one");
    log.after(scope, [&] { log(LogLevel::info, "two"); });
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
                }),
                scope);
  const auto fail = [&] {
    log(LogLevel::info, "one");
    throw 1;
  };
  EXPECT_THROW(log.after(scope, fail), int);
  EXPECT_THROW(log.after(scope, [&] { log(LogLevel::info, "two"); }), std::runtime_error);
  EXPECT_EQ(lines, (Lines{"one", "two"}));
}

TEST(Log, WaitsForTheEndOfACallThatHasAnotherLogOrNone) {
  Lines lines;
  const Log log(told_to([&](std::string_view line) { lines.emplace_back(line); }), scope);
  const Log throwing(told_to([](std::string_view) { throw std::runtime_error("no"); }), scope);
  for (const Log& other : {Log(), throwing}) {
    lines.clear();
    const auto call = [&] {
      other(LogLevel::info, "of its own");
      log(LogLevel::info, "one");
      EXPECT_EQ(lines, Lines{});
    };
    if (other.takes(LogLevel::info))
      EXPECT_THROW(other.after(scope, call), std::runtime_error);
    else
      other.after(scope, call);
    EXPECT_EQ(lines, Lines{"one"});
  }
}

TEST(Log, WaitsForNoCallInAnotherScope) {
  Lines lines;
  const Log log(told_to([&](std::string_view line) { lines.emplace_back(line); }), scope);
  const Log other(told_to([&](std::string_view line) { lines.emplace_back(line); }), other_scope);
  log.after(scope, [&] {
    log(LogLevel::info, "outer");
    other.after(other_scope, [&] {
      other(LogLevel::info, "inner");
      log.after(scope, [&] { log(LogLevel::info, "innermost"); });
      EXPECT_EQ(lines, Lines{});
    });
    EXPECT_EQ(lines, Lines{"inner"});
    other(LogLevel::info, "outside of its calls");
    EXPECT_EQ(lines, (Lines{"inner", "outside of its calls"}));
  });
  EXPECT_EQ(lines, (Lines{"inner", "outside of its calls", "outer", "innermost"}));
}

TEST(Log, IsToldAlthoughItIsGoneWhenTheCallEnds) {
  Lines lines;
  const auto call = [&] {
    const Log log(told_to([&](std::string_view line) {
                    lines.emplace_back(line);
                    throw std::runtime_error("no");
                  }),
                  scope);
    log(LogLevel::info, "one");
    log(LogLevel::error, "two");
  };
  EXPECT_THROW(Log::after_all(scope, call), std::runtime_error);
  EXPECT_EQ(lines, (Lines{"one", "two"}));
}

TEST(Log, TakesNoResultFromTheCallOfAnotherOne) {
  Lines lines;
  const auto throwing = [&](const char* thrown) {
    return Log(told_to([&lines, thrown](std::string_view line) {
                 lines.emplace_back(line);
                 throw std::runtime_error(thrown);
               }),
               scope);
  };
  const Log first = throwing("own"), other = throwing("other");
  const auto call = [&](bool tells_own) {
    other(LogLevel::info, "one");
    other(LogLevel::info, "two");
    if (tells_own) first(LogLevel::info, "three");
    return 7;
  };
  EXPECT_EQ(first.after(scope, [&] { return call(false); }), 7);
  EXPECT_EQ(lines, (Lines{"one", "two"}));
  EXPECT_EQ(Log().after(scope, [&] { return call(false); }), 7);
  EXPECT_THROW(first.after(scope, [&] { return call(true); }), std::runtime_error);
  EXPECT_THROW(Log::after_all(scope, [&] { return call(false); }), std::runtime_error);
  EXPECT_EQ(lines.size(), 9U);
}

// The call throws more exceptions than the engine can remember as the host's.
TEST(Log, ThrowsTheFirstExceptionOfManyAsItIs) {
  const Log log(told_to([](std::string_view line) { throw std::length_error(std::string(line)); }),
                scope);
  const auto call = [&] {
    for (int line = 0; line < 100; ++line) log(LogLevel::info, std::to_string(line));
  };
  try {
    or_out_of_memory("the call", [&] { log.after(scope, call); });
    FAIL() << "nothing was thrown";
  } catch (const std::length_error& error) {
    EXPECT_STREQ(error.what(), "0");
  }
}

TEST(Log, AsksTheEnvironmentOnlyWhereItMatters) {
  ::setenv("PENSTOCK_LOG_LEVEL", "loud", 1);
  RuntimeOptions options = told_to([](std::string_view) {});
  EXPECT_TRUE(Log(options, scope).takes(LogLevel::debug)) << "it has a level of its own";
  options.log_level = LogLevel::automatic;
  EXPECT_EQ(testing::refusal(Errc::invalid_argument, [&] { Log(options, scope); }),
            "PENSTOCK_LOG_LEVEL: expected one of debug, info, warning, error, off, got \"loud\"");
  EXPECT_FALSE(Log(RuntimeOptions{}, scope).takes(LogLevel::error)) << "without a log nobody asks";
  ::setenv("PENSTOCK_LOG_LEVEL", "", 1);
  EXPECT_TRUE(Log(options, scope).takes(LogLevel::debug)) << "empty is unset";
  ::unsetenv("PENSTOCK_LOG_LEVEL");
}

}  // namespace
}  // namespace penstock
