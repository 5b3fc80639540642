// These tests check what becomes of the names that hosts and files give to models, layers,
// parameters, values and tensors. An Error that repeats a name is one line that a terminal can
// show, and is no longer than a message may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/files/weights_file.hpp"
#include "penstock/penstock.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

/// This is a name with the end of a line, an escape character and 10,000 further characters.
const std::string name = "a\nb\x1b[1mc" + std::string(10'000, 'x');
const std::string other = name + ".other";

/// Expects of each call that it is refused by a text that shows `name` in a form fit for a
/// terminal. A list of all names has a limit of its own, which is 4,000 bytes.
void expect_printable(
    const std::vector<std::pair<std::string, std::function<void()>>>& refused_calls) {
  for (const auto& [title, call] : refused_calls) {
    SCOPED_TRACE(title);
    try {
      call();
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("a?b?[1mc"), std::string::npos) << text.substr(0, 300);
      EXPECT_TRUE(std::ranges::none_of(text, [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
      })) << text.substr(0, 300);
      EXPECT_LE(text.size(), 4500U);
    }
  }
}

/// A Named has a model called `name` in which every part is called `name`.
struct Named {
  Model model{name};
  Value x = model.input(name, {4});
  Value fc = model.linear(name, x, 4);
};

TEST(PrintableNames, AreThoseOfLayersAndBlocks) {
  Named n, blocks, placed, marked, lost;
  n.model.output(name, n.fc);
  n.model.loss(n.model.identity_loss(n.fc));
  static_cast<void>(blocks.model.block(name, 1));
  marked.model.begin_block_at(name, name);
  expect_printable({
      {"input", [&] { n.model.input(name, {4}); }},
      {"input's shape", [&] { n.model.input(other, {0}); }},
      {"linear", [&] { n.model.linear(name, n.fc, 3); }},
      {"linear of no units", [&] { n.model.linear(other, n.x, 0); }},
      {"group_norm", [&] { n.model.group_norm(other, n.x, 3); }},
      {"embedding", [&] { n.model.embedding(other, n.x, 3, 2); }},
      {"a value of none", [&] { n.model.linear(other, Value(), 3); }},
      {"output", [&] { n.model.output(name, n.fc); }},
      {"output of none", [&] { n.model.output(other, Value()); }},
      {"a second loss", [&] { n.model.loss(n.fc); }},
      {"block's IPU", [&] { const BlockScope scope = n.model.block(name, -7); }},
      {"block's other IPU", [&] { const BlockScope scope = blocks.model.block(name, 2); }},
      {"a block inside a block",
       [&] {
         const BlockScope scope = placed.model.block(name);
         placed.model.begin_block(other);
       }},
      {"begin_block_at none", [&] { n.model.begin_block_at(other, "B"); }},
      {"begin_block_at again", [&] { marked.model.begin_block_at(name, "B"); }},
      {"the first block's IPU",
       [&] {
         lost.model.begin_block("B");
         lost.model.begin_block("start", 3);
       }},
  });
}

TEST(PrintableNames, AreThoseOfStages) {
  Named n;
  n.model.relu(n.fc);
  LayerStages renamed = n.model.stage_assignment(), negative = renamed, backward = renamed;
  renamed[0].layer = other;
  backward[0].stage = 1;
  backward[1].stage = 0;
  expect_printable({{"another layer", [&] { n.model.set_stage_assignment(renamed); }},
                    {"no stage", [&] { n.model.set_stage_assignment(negative); }},
                    {"backwards", [&] { n.model.set_stage_assignment(backward); }},
                    {"split_after", [&] { split_after(renamed, name + "none"); }}});
}

TEST(PrintableNames, AreThoseOfParameters) {
  const testing::TemporaryDirectory directory;
  const std::string file = directory / "weights";
  Model().save_weights(file);
  Named n;
  const std::string weight = name + ".weight";
  expect_printable(
      {{"weight", [&] { n.model.weight(other); }},
       {"parameter", [&] { n.model.parameter(other); }},
       {"set_weight", [&] { n.model.set_weight(weight, Tensor()); }},
       {"load_weights", [&] { n.model.load_weights(file); }},
       {"a training without a loss", [&] { TrainingModel(n.model, Options{}); }},
       {"an inference without an output", [&] { InferenceModel(n.model, Options{}); }}});
}

/// A Trained has a training model of a model called `name`.
struct Trained {
  Trained() {
    named.model.output(name, named.fc);
    named.model.loss(named.model.identity_loss(named.fc));
    training.emplace(named.model, Options{}, AdamW{});
  }
  Named named;
  std::optional<TrainingModel> training;
};

TEST(PrintableNames, AreThoseOfARunningModel) {
  Trained t;
  Options anchored;
  anchored.output.anchors = {{.name = "a", .tensor = other}};
  Optimizer constant = AdamW{};
  constant.groups = {{.parameters = {name + ".weight"}, .settings = AdamW{.learning_rate = 0.5}}};
  const auto step = [&](Tensor x) { t.training->step({std::move(x)}); };
  expect_printable({{"an empty input", [&] { step({}); }},
                    {"an input's type",
                     [&] {
                       step(Tensor::zeros(DType::i64, {1, 4}));
                     }},
                    {"buffer", [&] { t.training->buffer(other, 0); }},
                    {"a parameter as buffer", [&] { t.training->buffer(name + ".weight", 0); }},
                    {"anchor", [&] { TrainingModel(t.named.model, anchored); }},
                    {"an attribute that is constant",
                     [&] {
                       constant.groups[0].settings = AdamW{.beta1 = 0.5};
                       t.training->set_optimizer(constant);
                     }},
                    {"a group of none", [&] {
                       constant.groups[0].parameters = {other};
                       t.training->set_optimizer(constant);
                     }}});
}

TEST(PrintableNames, AreThoseOfTheOptimizersState) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory / "state";
  write_weights_file(path, {.tensors = {}, .metadata = {{"optimizer", name}}});
  Trained t;
  const auto state = t.training->optimizer_state();
  auto twice = state, missing = state, other_shape = state, infinite = state, renamed = state;
  twice.push_back(state.back());
  missing.pop_back();
  other_shape.back().tensor = Tensor::zeros(DType::f32, {9});
  const std::vector<float> numbers(4, std::numeric_limits<float>::infinity());
  infinite.back().tensor = Tensor({4}, std::span(numbers));
  renamed.back().name += "x";
  const auto set = [&](const auto& tensors) { t.training->set_optimizer_state(tensors); };
  expect_printable({{"a file's rule", [&] { t.training->load_optimizer_state(path); }},
                    {"twice", [&] { set(twice); }},
                    {"missing", [&] { set(missing); }},
                    {"another shape", [&] { set(other_shape); }},
                    {"infinite", [&] { set(infinite); }},
                    {"renamed", [&] { set(renamed); }}});
}

/// A OneField is a dataset whose only field has the given name, and is no image.
class OneField : public Dataset {
 public:
  std::int64_t size() const override { return 1; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest&, std::span<std::byte* const>) const override {}

 private:
  std::vector<Field> fields_{{.name = name, .dtype = DType::i64, .shape = {}}};
};

TEST(PrintableNames, AreThoseOfMetricsValuesAndFields) {
  const StepResult empty;
  const std::vector<NamedValue> values{{name, 1}};
  const FitCallback stopping = early_stopping({.monitor = other});
  Trained t;
  DataLoader data(tensor_dataset({Tensor::zeros(DType::f32, {2, 4})}), {.batch_size = 1});
  const auto fit_with = [&](const Metric& metric) {
    fit(*t.training, data, {.metrics = {metric}});
  };
  const Metric without{name, nullptr};
  const Metric refusing{name, [](const StepResult&, const Batch&) { return Score{}; },
                        [](const StepResult&) { throw Error(Errc::invalid_argument, "no"); }};
  expect_printable({{"output", [&] { static_cast<void>(empty.output(name)); }},
                    {"anchor", [&] { static_cast<void>(empty.anchor(name)); }},
                    {"value_of", [&] { value_of({}, name); }},
                    {"value_of others", [&] { value_of(values, "none"); }},
                    {"early stopping", [&] { stopping.on_fit_begin({}); }},
                    {"early stopping by others",
                     [&] {
                       stopping.on_fit_begin({name, name});
                     }},
                    {"a metric without a function", [&] { fit_with(without); }},
                    {"a metric's check", [&] { fit_with(refusing); }},
                    {"field", [] { random_horizontal_flip(std::make_shared<OneField>()); }}});
}

TEST(PrintableNames, AreThoseOfAttributesAndLevels) {
  Options logged;
  logged.runtime.log = [](std::string_view) {};
  Optimizer optimizer = AdamW{};
  optimizer.marked[name] = true;
  Trained t;
  ::setenv("PENSTOCK_LOG_LEVEL", name.c_str(), 1);
  expect_printable({{"an attribute", [&] { t.training->set_optimizer(optimizer); }},
                    {"a level of the log", [&] { TrainingModel(t.named.model, logged); }}});
  ::unsetenv("PENSTOCK_LOG_LEVEL");
}

TEST(PrintableNames, AreThoseOfBlocksWithoutAnIpuAndOfTensorsWithoutAGradient) {
  Model model{"model"};
  model.begin_block(name);
  const Value x = model.input(name, {4});
  model.loss(model.identity_loss(model.linear("fc", x, 4)));
  Options by_ipu, anchored;
  by_ipu.topology.stage_rule = StageRule::same_as_ipu;
  anchored.output.anchors = {{.name = "a", .tensor = name, .gradient = true}};
  expect_printable({{"block", [&] { TrainingModel(model, by_ipu); }},
                    {"anchor", [&] { TrainingModel(model, anchored); }}});
}

TEST(PrintableNames, OfAModelForgeNoLineOfALog) {
  const std::string forger = "m\n[error] forged";
  Model model{forger};
  model.output("y", model.linear("fc", model.input("x", {4}), 4));
  std::vector<std::string> lines;
  Options options;
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view line) { lines.emplace_back(line); };
  InferenceModel serving(model, options);
  static_cast<void>(serving.run({Tensor::zeros(DType::f32, {1, 4})}));
  serving.detach();
  serving.attach();
  EXPECT_GE(lines.size(), 4U);
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find(forger), std::string::npos) << line;
    EXPECT_TRUE(line.find("forged") == std::string::npos ||
                line.find("m?[error] forged") != std::string::npos)
        << line;
  }
}

}  // namespace
}  // namespace penstock
