// What the engine reads, writes and checks on its host's thread does not depend on the
// floating-point environment that the host has set there.
#include <gtest/gtest.h>

#include <cfenv>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "penstock/data_loader_json.hpp"
#include "penstock/error.hpp"
#include "penstock/metric.hpp"
#include "penstock/optimizer_json.hpp"
#include "penstock/options_json.hpp"
#include "tests/engine/numbered_batches.hpp"
#include "tests/support/forked.hpp"

namespace penstock {
namespace {

/// Returns all that comes of the decimal `spelling` of a number below 1, to the last bit.
std::string read_and_written(const std::string& spelling) {
  const Optimizer optimizer =
      optimizer_from_json(R"({"settings": {"learning_rate": )" + spelling + "}}");
  const DataLoaderOptions loader =
      data_loader_options_from_json(R"({"timeout_seconds": )" + spelling + "}");
  const Options options = options_from_json(R"({"runtime": {"stall_seconds": )" + spelling + "}}");
  options.validate();
  optimizer.validate();
  loader.validate();
  const DataLoader made(std::make_shared<testing::NumberedSamples>(4), 2, loader);
  std::ostringstream text;
  text << std::hexfloat << optimizer.learning_rate() << loader.timeout_seconds
       << options.runtime.stall_seconds << to_json(optimizer) << to_json(loader) << to_json(options)
       << to_json(parse_json("[" + spelling + "]")) << made.batches();
  return text.str();
}

const std::vector<std::string> spellings{"0.1",     "0.3",    "0.7", "1e-3", "1.7e-5",
                                         "0.12345", "3.3e-4", "0.9", "6e-3", "0.30000000000000004"};

TEST(HostFloats, ChangeNoNumberByTheirRoundingMode) {
  for (const std::string& spelling : spellings) {
    const std::string expected = read_and_written(spelling);
    for (const int mode : {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
      ASSERT_EQ(std::fesetround(mode), 0);
      const std::string text = read_and_written(spelling);
      EXPECT_EQ(std::fegetround(), mode);
      std::fesetround(FE_TONEAREST);
      EXPECT_EQ(text, expected) << spelling << " in mode " << mode;
    }
  }
}

#if defined(__GLIBC__) && defined(__x86_64__)

/// Returns whether `call` returns, too, where inexact and invalid operations trap.
bool survives_traps(const auto& call) {
  return testing::exit_code_of_fork([&] {
           feenableexcept(FE_INEXACT | FE_INVALID);
           call();
           return fegetexcept() == (FE_INEXACT | FE_INVALID) ? 0 : 1;
         }) == 0;
}

TEST(HostFloats, DoNotTrapInNumbersThatAreReadOrChecked) {
  EXPECT_TRUE(survives_traps([] { parse_json("[0.1, 1e-3, 123456789012345678901]"); }));
  EXPECT_TRUE(
      survives_traps([] { to_json(options_from_json(R"({"runtime": {"stall_seconds": 0.1}})")); }));
  EXPECT_TRUE(survives_traps([] {
    to_json(optimizer_from_json(R"({"settings": {"learning_rate": 0.1}, "max_grad_norm": 0.3})"));
  }));
  EXPECT_TRUE(survives_traps([] {
    to_json(data_loader_options_from_json(R"({"timeout_seconds": 0.1, "stop_seconds": 0.7})"));
  }));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(survives_traps([&] {
    Options options;
    options.runtime.stall_seconds = nan;
    try {
      options.validate();
    } catch (const Error&) {
    }
  }));
  EXPECT_TRUE(survives_traps([&] {
    try {
      const DataLoader loader(std::make_shared<testing::NumberedSamples>(4), 2,
                              {.timeout_seconds = nan});
    } catch (const Error&) {
    }
  }));
}

TEST(HostFloats, DoNotTrapInBatchesOfMoreSamplesThanADoubleCounts) {
  constexpr std::int64_t many = (std::int64_t{1} << 60) + 1;
  EXPECT_TRUE(survives_traps([&] {
    try {
      const DataLoader loader(std::make_shared<testing::NumberedSamples>(4), many);
    } catch (const Error&) {
    }
  }));
}

TEST(HostFloats, DoNotTrapInScoresThatAreNotNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor scores({1, 3}, {nan, 1, nan});
  const std::vector<std::int64_t> label{1};
  const Tensor labels(Shape{1}, std::span<const std::int64_t>(label));
  EXPECT_TRUE(survives_traps([&] { count_correct(scores, labels); }));
}

#endif

}  // namespace
}  // namespace penstock
