// These tests check that what the engine writes and reads does not depend on the locale that its
// host has set.
#include <gtest/gtest.h>

#include <sstream>

#include "engine/files/weights_file.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/chrome_trace.hpp"
#include "penstock/data_loader_json.hpp"
#include "penstock/json_value.hpp"
#include "penstock/optimizer_json.hpp"
#include "penstock/options_json.hpp"
#include "penstock/output_file.hpp"
#include "penstock/report_text.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/comma_locale.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::CommaLocale;
using testing::refusal;

/// Returns what `text_of` returns, and expects the same text under a locale with decimal commas.
template <class TextOf>
std::string same_under_commas(const TextOf& text_of) {
  const std::string expected = text_of();
  const CommaLocale commas;
  EXPECT_EQ(text_of(), expected);
  return expected;
}

Options odd_options() {
  Options options{.batch_size = 12345};
  options.runtime.stall_seconds = 1234.0625;
  options.training.gradient_accumulation = 1000;
  return options;
}

TEST(HostLocale, ChangesNoNumberInJson) {
  const std::string text = same_under_commas([] { return to_json(odd_options()); });
  EXPECT_NE(text.find("1234.0625"), text.npos);
  Adam adam;
  adam.learning_rate = 0.0015;
  same_under_commas([&] { return to_json(Optimizer(adam)); });
  DataLoaderOptions loader;
  loader.timeout_seconds = 1234.5;
  same_under_commas([&] { return to_json(loader); });
  same_under_commas([&] {
    std::ostringstream stream;
    stream << loader << odd_options() << Optimizer(adam);
    return stream.str();
  });
}

TEST(HostLocale, ChangesNoNumberThatIsReadFromJson) {
  const std::string text = R"({"a": [0.001, -1234.5e-3, 1000000]})";
  same_under_commas([&] { return to_json(parse_json(text)); });
  const CommaLocale commas;
  EXPECT_EQ(parse_json(text).items[0].items[0].text, "0.001");
  const Options options = odd_options();
  EXPECT_EQ(to_json(options_from_json(to_json(options))), to_json(options));
  Adam adam;
  adam.learning_rate = 0.0015;
  const Optimizer read = optimizer_from_json(to_json(Optimizer(adam)));
  EXPECT_EQ(std::get<Adam>(read.settings).learning_rate, 0.0015);
  EXPECT_EQ(data_loader_options_from_json(R"({"timeout_seconds": 0.25})").timeout_seconds, 0.25);
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { parse_json("[0,001]"); }).substr(0, 23),
            "line 1: not valid JSON:");
}

TEST(HostLocale, ChangesNoNumberInMessages) {
  EXPECT_EQ(same_under_commas([] { return number_text(1234567.5); }), "1234567.5");
  EXPECT_EQ(same_under_commas([] { return decimal_text(1234567.5, 2); }), "1234567.50");
  EXPECT_EQ(same_under_commas([] { return graph::size_text(1'234'567); }), "1.2 MB");
  EXPECT_EQ(same_under_commas([] {
              return refusal(Errc::invalid_argument,
                             [] { graph::expect_between(1234.5, 0.25, 1000, "p"); });
            }),
            "expected p from 0.25 to 1000, got 1234.5");
  CompileReport report;
  report.seconds = 1.5;
  report.steps = {{"read plan", 1.25}};
  report.expected_speedup = 1234.5;
  same_under_commas([&] { return to_string(report); });
}

TEST(HostLocale, ChangesNoByteOfFiles) {
  WeightsFile weights;
  weights.tensors.emplace("w", Tensor::zeros(DType::f32, {1234, 2}));
  const TraceEvent event{.begin_ns = 0, .end_ns = 1'234'567};
  same_under_commas([&] {
    const testing::TemporaryDirectory directory;
    write_weights_file(directory / "weights", weights);
    read_weights_file(directory / "weights");
    write_chrome_trace((directory / "trace").string(), std::span(&event, 1));
    return testing::file_content(directory / "weights") +
           testing::file_content(directory / "trace");
  });
}

/// Returns what the log of a training, whose plan is kept in `cache`, says of a step: "done in
/// 0.000012 s".
std::string duration_line_of_a_step(const std::string& cache) {
  std::string duration_line;
  Options options = testing::options_for(2, 1, 1);
  options.runtime.cache_directory = cache;
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view line) {
    if (const auto at = line.find("done in "); at != line.npos) duration_line = line.substr(at);
  };
  TrainingModel training(testing::plain_model(), options);
  training.step(testing::samples(2, false));
  return duration_line;
}

TEST(HostLocale, ChangesNoTimeInTheLogAndNoKeyOfAPlan) {
  const testing::TemporaryDirectory cache;
  duration_line_of_a_step(cache.path().string());
  const CommaLocale commas;
  const std::string duration_line = duration_line_of_a_step(cache.path().string());
  EXPECT_EQ(cache.entries().size(), 1U);
  EXPECT_NE(duration_line.find('.'), duration_line.npos) << duration_line;
  EXPECT_EQ(duration_line.find(','), duration_line.npos) << duration_line;
}

}  // namespace
}  // namespace penstock
