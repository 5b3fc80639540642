// These tests check that what the engine reads, writes and checks on its host's thread does not
// depend on the floating-point environment that the host has set there.
#include <gtest/gtest.h>

#include <cfenv>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/numbered_batches.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

/// Reads the decimal `spelling` of a number below 1 in several ways, and returns all results as
/// text, exact to the last bit.
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

/// Returns whether `call` returns although every kind of floating-point exception traps, and leaves
/// the traps as they are.
bool survives_traps(const auto& call) {
  return testing::exit_code_of_fork([&] {
           feenableexcept(FE_ALL_EXCEPT);
           call();
           return fegetexcept() == FE_ALL_EXCEPT ? 0 : 1;
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

TEST(HostFloats, DoNotTrapInReportsAndTraces) {
  CompileReport report{.seconds = 0.1, .steps = {{"split", 0.3}}};
  report.stages = {{.forward_flops = 12345.7, .share = 0.3, .bytes = 12345}};
  EXPECT_TRUE(survives_traps([&] { static_cast<void>(to_string(report)); }));
  EXPECT_TRUE(survives_traps([&] { static_cast<void>(describe_stages(report)); }));
  const testing::TemporaryDirectory directory;
  const std::string path = directory / "trace";
  const std::vector<TraceEvent> events{{.begin_ns = 1, .end_ns = 12346}};
  EXPECT_TRUE(survives_traps([&] { write_chrome_trace(path, events); }));
}

TEST(HostFloats, DoNotTrapInMetricsAndEarlyStopping) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(survives_traps([&] {
    try {
      early_stopping({.min_delta = nan});
    } catch (const Error&) {
    }
  }));
  const EpochRecord epoch{.values = {{"val_loss", 0.1}}}, none{.values = {{"val_loss", nan}}};
  EXPECT_TRUE(survives_traps([&] {
    const FitCallback callback = early_stopping({.min_delta = 0.3});
    for (const EpochRecord& each : {epoch, none, epoch}) callback.on_epoch_end(each);
  }));
  const StepResult result{.outputs = {{"y", Tensor({3}, {0.1f, 0.2f, 0.7f})}},
                          .rows = {.micro_batches = {1, 1}}};
  EXPECT_TRUE(survives_traps([&] {
    Score score = mean_of("y").score(result, {});
    score += Score{0.1, 2};
    static_cast<void>(score.mean());
  }));
}

TEST(HostFloats, DoNotTrapInSchedulesAndDatasets) {
  EXPECT_TRUE(survives_traps([] {
    LearningRateSchedule::constant(0.1);
    LearningRateSchedule::step(3, 0.1);
    LearningRateSchedule::exponential(0.1);
    LearningRateSchedule::of({{.factor = 0.1}});
    const auto schedule = LearningRateSchedule::cosine(3, 0.1).after_warm_up(7, 0.3);
    for (int update = 0; update < 12; ++update) static_cast<void>(schedule.at(update));
  }));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr std::int64_t many = (std::int64_t{1} << 60) + 1;
  EXPECT_TRUE(survives_traps([&] {
    const auto digits = synthetic_digits(3, 1, {0.1, 0.3});
    normalize(digits, {{0.1}, {0.3}});
    resize(digits, {.rows = 9, .columns = 9});
    random_resized_crop(digits, {.rows = 9, .columns = 9});
    color_jitter(digits, {.contrast = {0.1, 0.7}});
    try {
      random_horizontal_flip(digits, {.probability = nan});
    } catch (const Error&) {
    }
    try {
      random_crop(digits, {.rows = many, .columns = many, .padding = many});
    } catch (const Error&) {
    }
  }));
}

TEST(HostFloats, DoNotTrapInPathsOfFiles) {
  const testing::TemporaryDirectory directory;
  const std::string folder = directory / "a/b/c/d/e/f";
  EXPECT_TRUE(survives_traps([&] {
    try {
      read_idx(folder, Split::train, {});
    } catch (const Error&) {
    }
    try {
      read_cifar10(folder, Split::train);
    } catch (const Error&) {
    }
  }));
}

TEST(HostFloats, DoNotTrapInNumbersOfFiles) {
  const testing::TemporaryDirectory directory;
  testing::write_file(directory / "a.csv", "a\n0.1\n1e-320\n1e39\n");
  const std::string file = directory / "a.csv";
  EXPECT_TRUE(survives_traps([&] {
    try {
      read_csv(file);
    } catch (const Error&) {
    }
  }));
}

TEST(HostFloats, DoNotTrapWhereLayersAreAddedAndModelsRun) {
  EXPECT_TRUE(survives_traps([] {
    Model model("floats", 1);
    const Value x = model.input("x", {3, 5});
    Value y = model.scale(model.attention(x, x, x), 0.3);
    y = model.dropout("drop", model.linear("fc", model.flatten(y), 7), 0.1);
    model.output("y", model.leaky_relu(y, 0.1));
    InferenceModel inference(model, {.batch_size = 3});
    const std::vector<Tensor> inputs{testing::uniform({2, 3, 5}, 1)};
    predict(inference, inputs);
  }));
}

#endif

}  // namespace
}  // namespace penstock
