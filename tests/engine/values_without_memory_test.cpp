// In these tests any one allocation of a public function that needs no model fails. The host gets
// Error out_of_memory, or the Error that it would get with memory, and no other exception.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/support/numbered_samples.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/without_memory.hpp"

namespace penstock::testing {
namespace {

using Calls = std::vector<std::pair<std::string, std::function<void()>>>;

void expect_no_raw_exception_of(const Calls& calls) {
  for (const auto& [name, call] : calls) expect_no_raw_exception(name, call);
}

/// This is a name that is too long for a string without memory of its own.
const std::string long_name = "a name that is too long for a string without memory of its own";
const Tensor three({3}, {1, 2, 3});

TEST(ValuesWithoutMemory, TensorsAndShapesThrowNoRawException) {
  const std::vector<std::int64_t> too_many(9, 1), negative{-1}, endless(8, 1000000);
  const std::vector<float> floats(4);
  const std::vector<std::int64_t> numbers(4);
  const std::shared_ptr<const std::byte> bytes = three.storage();
  expect_no_raw_exception_of(
      {{"Shape of nine", [&] { Shape{std::span(too_many)}; }},
       {"Shape below zero", [&] { Shape{std::span(negative)}; }},
       {"Shape without end", [&] { Shape{std::span(endless)}; }},
       {"to_string",
        [] {
          static_cast<void>(to_string(Shape{1000000, 100000, 1000, 1}));
        }},
       {"Tensor f32", [&] { Tensor({4}, std::span(floats)); }},
       {"Tensor i64", [&] { Tensor({4}, std::span(numbers)); }},
       {"Tensor of a list",
        [] {
          Tensor({2}, {1, 2});
        }},
       {"Tensor of too few",
        [] {
          Tensor({3}, {1, 2});
        }},
       {"zeros", [] { Tensor::zeros(DType::f32, {4}); }},
       {"wrap", [&] { Tensor::wrap(DType::f32, {3}, bytes); }},
       {"as", [] { static_cast<void>(three.as<std::int64_t>()); }},
       {"item", [] { static_cast<void>(three.item()); }},
       {"rows", [] { static_cast<void>(three.rows(1, 2)); }},
       {"rows that are not there", [] { static_cast<void>(three.rows(1, 9)); }},
       {"reshaped",
        [] {
          static_cast<void>(three.reshaped({3, 1}));
        }},
       {"reshaped to more", [] { static_cast<void>(three.reshaped({4})); }}});
}

TEST(ValuesWithoutMemory, OptionsThrowNoRawException) {
  Options good, twice, unknown;
  good.output.anchors = {{.name = long_name, .tensor = "fc"}, {.name = "b", .tensor = "fc"}};
  good.topology.stages = {Stage{long_name}};
  twice.output.anchors = {{.name = long_name, .tensor = "fc"}, {.name = long_name, .tensor = "b"}};
  unknown.batch_size = 0;
  const Phase phase{Stage{long_name}};
  const std::vector<int> one{0}, two{0, 1};
  DataLoaderOptions loader;
  loader.workers = -1;
  expect_no_raw_exception_of({{"validate", [&] { good.validate(); }},
                              {"validate anchors", [&] { twice.validate(); }},
                              {"validate a number", [&] { unknown.validate(); }},
                              {"Phase::on", [&] { static_cast<void>(phase.on(one)); }},
                              {"Phase::on too many", [&] { static_cast<void>(phase.on(two)); }},
                              {"parse_stages", [] { parse_stages(long_name); }},
                              {"parse_stages of none", [] { parse_stages("a,|b"); }},
                              {"parse_phases", [] { parse_phases("a,b|c;d"); }},
                              {"parse_phases of none", [] { parse_phases("a;;d"); }},
                              {"ipus_in_order", [] { ipus_in_order(IpuOrder::snake, 9); }},
                              {"ipus_in_order of none", [] { ipus_in_order(IpuOrder::snake, 0); }},
                              {"to_string", [] { static_cast<void>(to_string(size_of_step({}))); }},
                              {"DataLoaderOptions", [&] { loader.validate(); }}});
}

TEST(ValuesWithoutMemory, OptimizersAndSchedulesThrowNoRawException) {
  const Optimizer good(Adam{});
  Optimizer marked(good), groups(Sgd{}), twice(Sgd{});
  groups.groups = {{.parameters = {long_name}, .settings = Sgd{}}};
  twice.groups = {{.parameters = {long_name, long_name}, .settings = Sgd{}}};
  const LearningRateSchedule schedule = LearningRateSchedule::cosine(10);
  const std::vector<LearningRateSchedule::Segment> none, segments(1);
  const std::string weight_decay = "weight_decay";
  expect_no_raw_exception_of(
      {{"validate groups", [&] { groups.validate(); }},
       {"validate names", [&] { twice.validate(); }},
       {"mark_as_variable", [&] { marked.mark_as_variable(long_name); }},
       {"is_variable", [&] { static_cast<void>(good.is_variable(long_name)); }},
       {"constant", [] { LearningRateSchedule::constant(0.5); }},
       {"constant below 0", [] { LearningRateSchedule::constant(-1); }},
       {"step", [] { LearningRateSchedule::step(3); }},
       {"exponential", [] { LearningRateSchedule::exponential(0.9); }},
       {"cosine", [] { LearningRateSchedule::cosine(3); }},
       {"linear", [] { LearningRateSchedule::linear(3, 0); }},
       {"then", [&] { static_cast<void>(schedule.then(3, schedule)); }},
       {"after_warm_up", [&] { static_cast<void>(schedule.after_warm_up(3)); }},
       {"at", [&] { static_cast<void>(schedule.at(-1)); }},
       {"of", [&] { LearningRateSchedule::of(segments); }},
       {"of none", [&] { LearningRateSchedule::of(none); }}});
  const CallOutcome refused =
      call_without_memory(1, [&] { marked.mark_as_variable(weight_decay); });
  EXPECT_EQ(refused.refusal, Errc::out_of_memory);
  EXPECT_TRUE(marked.marked.empty());
}

TEST(ValuesWithoutMemory, JsonThrowsNoRawException) {
  const std::string options =
      R"({"runtime": {"cache_directory": "a directory with a name that is long"}})";
  const std::string optimizer = R"({"settings": {"rule": "adamw", "beta1": 0.5}})";
  const std::string loader = R"({"workers": 3})";
  const JsonValue json = parse_json(options);
  const Optimizer base(Sgd{});  // The optimizer's schedule is allocated before allocations fail.
  std::ostream nowhere(nullptr);
  expect_no_raw_exception_of(
      {{"parse_json", [&] { parse_json(options); }},
       {"describe", [&] { static_cast<void>(describe(json.items[0].items[0])); }},
       {"to_json of JSON", [&] { static_cast<void>(to_json(json)); }},
       {"options_from_json", [&] { options_from_json(options); }},
       {"optimizer_from_json", [&] { optimizer_from_json(optimizer, base); }},
       {"data_loader_options_from_json", [&] { data_loader_options_from_json(loader); }},
       {"to_json of options", [] { static_cast<void>(to_json(Options{})); }},
       {"to_json of a loader's", [] { static_cast<void>(to_json(DataLoaderOptions{})); }},
       {"options <<", [&] { nowhere << Options{}; }},
       {"loader's options <<", [&] { nowhere << DataLoaderOptions{}; }}});
}

TEST(ValuesWithoutMemory, ReportsAndTracesThrowNoRawException) {
  CompileReport report;
  report.steps = {{long_name, 0.1}};
  report.stages = {{.blocks = {long_name}, .first_layer = long_name}};
  report.warnings = {long_name};
  const LayerStages layers{{.layer = long_name, .op = "relu", .inputs = {long_name}, .stage = 0}};
  const TemporaryDirectory directory;
  const std::string path = directory / "trace";
  const std::vector<TraceEvent> events(3);
  expect_no_raw_exception_of(
      {{"to_string", [&] { static_cast<void>(to_string(report)); }},
       {"describe_stages", [&] { static_cast<void>(describe_stages(report)); }},
       {"table of layers", [&] { static_cast<void>(to_string(layers)); }},
       {"JSON of layers", [&] { static_cast<void>(to_json(layers)); }},
       {"split_after", [&] { split_after({}, long_name); }},
       {"write_chrome_trace", [&] { write_chrome_trace(path, events); }}});
}

TEST(ValuesWithoutMemory, MetricsAndCallbacksThrowNoRawException) {
  const EarlyStopping rule{.monitor = long_name};
  const EarlyStopping impatient{.patience = -1};
  const BestWeights best{.monitor = long_name};
  const FitCallback callback = early_stopping(rule);
  const Metric correct = accuracy(long_name), mean = mean_of(long_name), f1 = f1_score(long_name);
  Model model;
  model.linear("fc", model.input("x", {2}), 1);
  const ModelAverage average(model);
  const std::vector<std::string> names{"loss"};
  const std::vector<NamedValue> values{{long_name, 1}};
  const StepResult empty;
  const StepResult some{.outputs = {{long_name, Tensor({1, 3}, {1, 2, 3})}},
                        .rows = {.mode = OutputMode::every_n, .round = 1}};
  const std::vector<std::int64_t> label{1};
  const Batch batch{Tensor(Shape{1}, std::span(label))};
  expect_no_raw_exception_of(
      {{"value_of", [&] { value_of(values, "none"); }},
       {"early_stopping", [&] { early_stopping(rule); }},
       {"early_stopping refused", [&] { early_stopping(impatient); }},
       {"on_fit_begin", [&] { callback.on_fit_begin(names); }},
       {"on_epoch_end", [&] { callback.on_epoch_end({}); }},
       {"accuracy", [] { accuracy(long_name); }},
       {"accuracy's score", [&] { correct.score(some, batch); }},
       {"accuracy's check", [&] { correct.check(empty); }},
       {"mean_of", [] { mean_of(long_name); }},
       {"mean_of's score", [&] { mean.score(empty, batch); }},
       {"count_correct", [&] { count_correct(three, three); }},
       {"f1_score", [] { f1_score(long_name); }},
       {"f1_score's check", [&] { f1.check(empty); }},
       {"f1_score's start", [&] { f1.start(); }},
       {"f1_score's state", [&] { f1.start()->add(some, batch); }},
       {"roc_auc", [] { roc_auc(long_name); }},
       {"perplexity", [] { perplexity(long_name); }},
       {"best_weights", [&] { best_weights(best); }},
       {"stop_when_not_finite", [] { stop_when_not_finite(); }},
       {"ModelAverage", [&] { ModelAverage(model).callback(); }},
       {"ModelAverage::update", [&] { average.update(); }},
       {"StepResult::output", [&] { static_cast<void>(empty.output(long_name)); }},
       {"StepResult::anchor", [&] { static_cast<void>(empty.anchor(long_name)); }}});
}

TEST(ValuesWithoutMemory, DatasetsThrowNoRawException) {
  const std::shared_ptr<const Dataset> images = synthetic_digits(3, 1, {});
  const ChannelNormalization one{{0.5}, {0.5}}, none;
  const Tensor rows({3, 1}, {1, 2, 3});
  const std::vector<double> halves{0.5, 0.5};
  expect_no_raw_exception_of(
      {{"synthetic_digits", [] { synthetic_digits(3, 1, {}); }},
       {"synthetic_digits of less", [] { synthetic_digits(-3, 1, {}); }},
       {"first_samples", [&] { first_samples(images, 2); }},
       {"first_samples of more", [&] { first_samples(images, 9); }},
       {"normalize", [&] { normalize(images, one); }},
       {"normalize by nothing", [&] { normalize(images, none); }},
       {"random_crop", [&] { random_crop(images, {.rows = 3, .columns = 3}); }},
       {"random_crop of nothing", [&] { random_crop(images, {}); }},
       {"random_horizontal_flip", [&] { random_horizontal_flip(images); }},
       {"random_horizontal_flip above 1", [&] { random_horizontal_flip(images, {2}); }},
       {"read_idx", [] { read_idx(long_name, Split::train, {}); }},
       {"read_idx of no class", [] { read_idx(long_name, long_name, {}, 0); }},
       {"read_cifar10", [] { read_cifar10(long_name, Split::train); }},
       {"read_cifar10 of no files", [] { read_cifar10({}); }},
       {"split_by_fractions", [&] { split_by_fractions(images, halves); }},
       {"split_by_counts of less", [&] { split_by_counts(images, {}); }},
       {"concat_datasets of none", [] { concat_datasets({}); }},
       {"map_dataset of none", [] { map_dataset(nullptr, {}, {}); }},
       {"shuffle_stream", [] { shuffle_stream(nullptr); }},
       {"read_csv", [] { read_csv(long_name); }},
       {"resize", [&] { resize(images, {.rows = 3, .columns = 3}); }},
       {"center_crop", [&] { center_crop(images, {.rows = 3, .columns = 3}); }},
       {"random_resized_crop", [&] { random_resized_crop(images, {.rows = 3, .columns = 3}); }},
       {"color_jitter",
        [&] {
          color_jitter(images, {.contrast = {0.5, 1.5}});
        }},
       {"load_image", [] { load_image(long_name); }},
       {"read_image_folder", [] { read_image_folder(long_name, as_bytes); }},
       {"load_npy", [] { load_npy(long_name); }},
       {"save_npy", [] { save_npy(long_name, {}); }},
       {"load_wav", [] { load_wav(long_name); }}});
  // The test's own vector of tensors is allocated before allocations fail.
  std::vector<Tensor> tensors{rows};
  const CallOutcome refused = call_without_memory(1, [&] { tensor_dataset(std::move(tensors)); });
  EXPECT_EQ(refused.refusal, Errc::out_of_memory);
}

}  // namespace
}  // namespace penstock::testing
