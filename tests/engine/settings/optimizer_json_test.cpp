#include "penstock/optimizer_json.hpp"

#include <sstream>

#include "penstock/data_loader_json.hpp"
#include "penstock/options_json.hpp"
#include "tests/engine/settings/all_differ.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::expect_all_differ;
using testing::refusal;

// The functions called fields() list all fields of each struct. A field that is added does not
// compile until it is listed in them. Then a test fails until the field is changed in the
// optimizers of the tests, so that the JSON is asked for it.

auto fields(const Sgd& rule) {
  const auto& [rate, momentum, dampening, decay, nesterov, dampen_first, keras] = rule;
  return std::tie(rate, momentum, dampening, decay, nesterov, dampen_first, keras);
}

auto fields(const Adam& rule) {
  const auto& [rate, beta1, beta2, eps, decay, bias_correction] = rule;
  return std::tie(rate, beta1, beta2, eps, decay, bias_correction);
}

auto fields(const AdamW& rule) {
  const auto& [rate, beta1, beta2, eps, decay, bias_correction] = rule;
  return std::tie(rate, beta1, beta2, eps, decay, bias_correction);
}

auto fields(const RmsProp& rule) {
  const auto& [rate, alpha, eps, momentum, decay, centered, tf_variant] = rule;
  return std::tie(rate, alpha, eps, momentum, decay, centered, tf_variant);
}

auto fields(const Lamb& rule) {
  const auto& [rate, beta1, beta2, eps, decay, max_weight_norm, bias_correction] = rule;
  return std::tie(rate, beta1, beta2, eps, decay, max_weight_norm, bias_correction);
}

auto fields(const LearningRateSchedule::Segment& segment) {
  const auto& [kind, first, factor, updates, lasts] = segment;
  return std::tie(kind, first, factor, updates, lasts);
}

/// Returns the fields that are numbers, and the marks.
auto own_fields(const Optimizer& optimizer) {
  const auto& [settings, groups, max_norm, exact, scaling, schedule, marked] = optimizer;
  return std::tie(max_norm, exact, scaling, marked);
}

void expect_equal(const OptimizerSettings& left, const OptimizerSettings& right) {
  ASSERT_EQ(left.index(), right.index());
  std::visit(
      [&]<class Rule>(const Rule& rule) { EXPECT_EQ(fields(rule), fields(std::get<Rule>(right))); },
      left);
}

void expect_equal(const LearningRateSchedule& left, const LearningRateSchedule& right) {
  ASSERT_EQ(left.segments().size(), right.segments().size());
  for (std::size_t i = 0; i < left.segments().size(); ++i)
    EXPECT_EQ(fields(left.segments()[i]), fields(right.segments()[i]));
}

void expect_equal(const Optimizer& left, const Optimizer& right) {
  EXPECT_EQ(own_fields(left), own_fields(right));
  expect_equal(left.settings, right.settings);
  expect_equal(left.schedule, right.schedule);
  ASSERT_EQ(left.groups.size(), right.groups.size());
  for (std::size_t i = 0; i < left.groups.size(); ++i) {
    EXPECT_EQ(left.groups[i].parameters, right.groups[i].parameters);
    expect_equal(left.groups[i].settings, right.groups[i].settings);
  }
}

const Sgd sgd{.learning_rate = 0.5,
              .momentum = 0.9,
              .weight_decay = 0.01,
              .nesterov = true,
              .keras_variant = true};
const Sgd dampened{.momentum = 0.5, .dampening = 0.25, .dampen_first_step = true};
const Adam adam{.learning_rate = 0.5,
                .beta1 = 0.25,
                .beta2 = 0.1,
                .eps = 1e-7,
                .weight_decay = 0.01,
                .bias_correction = false};
const AdamW adamw{.learning_rate = 0.5,
                  .beta1 = 0.25,
                  .beta2 = 0.1,
                  .eps = 1e-7,
                  .weight_decay = 0.1,
                  .bias_correction = false};
const RmsProp rmsprop{.learning_rate = 0.5,
                      .alpha = 0.5,
                      .eps = 1e-7,
                      .momentum = 0.1,
                      .weight_decay = 0.01,
                      .centered = true,
                      .tf_variant = true};
const Lamb lamb{.learning_rate = 0.5,
                .beta1 = 0.25,
                .beta2 = 0.1,
                .eps = 1e-7,
                .weight_decay = 0.1,
                .max_weight_norm = 3,
                .bias_correction = false};

/// Returns an optimizer in which everything but the rule's own settings is changed.
Optimizer changed_optimizer() {
  Optimizer optimizer = adamw;
  optimizer.groups = {{.parameters = {"fc.bias", "a \"name\""}, .settings = AdamW{.eps = 1e-6}},
                      {.parameters = {"fc.weight"}, .settings = AdamW{}}};
  optimizer.max_grad_norm = 1.5;
  optimizer.exact_max_grad_norm = true;
  optimizer.loss_scaling = 1024;
  optimizer.schedule =
      LearningRateSchedule::linear(50, 0.5, 0.9).then(60, LearningRateSchedule::cosine(1000, 0.1));
  optimizer.mark_as_constant("beta1").mark_as_variable("eps");
  return optimizer;
}

/// Returns an optimizer whose groups follow other rules than the rest.
Optimizer mixed_optimizer() {
  Optimizer optimizer = sgd;
  optimizer.groups = {{.parameters = {"a"}, .settings = adam},
                      {.parameters = {"b", "c"}, .settings = lamb},
                      {.parameters = {"d"}, .settings = Sgd{}}};
  optimizer.mark_as_variable("beta1");
  return optimizer;
}

TEST(OptimizerJson, D1_EveryFieldComesBackAsItWas) {
  using Schedule = LearningRateSchedule;
  for (const Optimizer& optimizer :
       {Optimizer(sgd), Optimizer(dampened), Optimizer(adam), Optimizer(adamw), Optimizer(rmsprop),
        Optimizer(lamb), Optimizer(Lamb{}), changed_optimizer(), mixed_optimizer(), Optimizer()})
    expect_equal(optimizer_from_json(to_json(optimizer), changed_optimizer()), optimizer);
  for (const Schedule& schedule :
       {Schedule::constant(0.5), Schedule::step(7, 0.3), Schedule::exponential(0.99),
        Schedule::cosine(9, 0.2), Schedule::linear(5, 0.1, 0.9),
        Schedule::step(2).then(3, Schedule::exponential(0.5)).after_warm_up(4, 0.5)}) {
    Optimizer optimizer;
    optimizer.schedule = schedule;
    const Optimizer read = optimizer_from_json(to_json(optimizer));
    expect_equal(read, optimizer);
    for (int update = 0; update < 20; ++update)
      EXPECT_EQ(read.schedule.at(update), schedule.at(update));
  }
  expect_equal(optimizer_from_json("{}"), Optimizer());
}

TEST(OptimizerJson, D1_TheTestAboveChangesEveryField) {
  Sgd all = sgd;
  all.dampening = dampened.dampening;
  all.dampen_first_step = dampened.dampen_first_step;
  expect_all_differ(fields(all), fields(Sgd{}));
  expect_all_differ(fields(adam), fields(Adam{}));
  expect_all_differ(fields(adamw), fields(AdamW{}));
  expect_all_differ(fields(rmsprop), fields(RmsProp{}));
  expect_all_differ(fields(lamb), fields(Lamb{}));
  expect_all_differ(own_fields(changed_optimizer()), own_fields(Optimizer()));
  expect_all_differ(fields(changed_optimizer().schedule.segments().at(0)),
                    fields(Optimizer().schedule.segments().at(0)));
}

TEST(OptimizerJson, D1_IsPrintedAGroupAtATime) {
  Optimizer optimizer = Sgd{.learning_rate = 1e-3, .momentum = 0.9};
  optimizer.groups = {{.parameters = {"fc.bias"}, .settings = Sgd{}}};
  optimizer.schedule = LearningRateSchedule::step(30);
  optimizer.mark_as_constant("momentum");
  std::ostringstream stream;
  stream << optimizer;
  EXPECT_EQ(stream.str(), R"({
  "settings": {
    "rule": "sgd",
    "learning_rate": 0.001,
    "momentum": 0.9,
    "dampening": 0,
    "weight_decay": 0,
    "nesterov": false,
    "dampen_first_step": false,
    "keras_variant": false
  },
  "groups": [{"parameters": ["fc.bias"], "settings": {"rule": "sgd", "learning_rate": 0.01, )"
                          R"("momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": false, )"
                          R"("dampen_first_step": false, "keras_variant": false}}],
  "max_grad_norm": 0,
  "exact_max_grad_norm": false,
  "loss_scaling": 1,
  "schedule": [{"kind": "step", "first": 1, "factor": 0.1, "updates": 30, "lasts": 0}],
  "marked": {
    "momentum": false
  }
})");
}

TEST(OptimizerJson, C5_ALaterTextChangesOnlyTheFieldsThatItNames) {
  const Optimizer later = optimizer_from_json(
      R"({"settings": {"beta2": 0.5}, "loss_scaling": 2, "marked": {"eps": false}})",
      changed_optimizer());
  Optimizer expected = changed_optimizer();
  std::get<AdamW>(expected.settings).beta2 = 0.5;
  expected.loss_scaling = 2;
  expected.marked = {{"eps", false}};
  expect_equal(later, expected);
  expect_equal(optimizer_from_json(R"({"settings": {"eps": 1, "rule": "adamw"}})", adamw).settings,
               optimizer_from_json(R"({"settings": {"rule": "adamw", "eps": 1}})", adamw).settings);
}

TEST(OptimizerJson, AnotherRuleBeginsWithItsDefaults) {
  expect_equal(optimizer_from_json(R"({"settings": {"eps": 1e-5, "rule": "lamb"}})", adam),
               Lamb{.eps = 1e-5});
}

TEST(OptimizerJson, D1_RefusesByLineAndName) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "line 1: optimizer: expected an object, got a list"},
      {"{\n\"setting\": 1}",
       "line 2: optimizer: \"setting\" is none of its fields settings, groups, max_grad_norm, "
       "exact_max_grad_norm, loss_scaling, schedule, marked"},
      {"{\"settings\": {\n\"beta1\": 0.5}}",
       "line 2: optimizer.settings: \"beta1\" is none of its fields rule, learning_rate, "
       "momentum,"},
      {"{\"settings\":\n{\"rule\":\n\"adagrad\"}}",
       "line 3: optimizer.settings.rule: expected one of sgd, adam, adamw, rmsprop, lamb, got "
       "\"adagrad\""},
      {"{\"settings\": [\n]}", "line 1: optimizer.settings: expected an object, got a list"},
      {"{\"settings\": {\"rule\": \"adam\",\n\"beta1\": 1}}",
       "line 2: adam.beta1: expected 0 or more and below 1, got 1"},
      {"{\"settings\": {\"learning_rate\":\n\"fast\"}}",
       "line 2: optimizer.settings.learning_rate: expected a number, got \"fast\""},
      {"{\"settings\": {\"rule\": \"lamb\",\n\"max_weight_norm\": false}}",
       "line 2: optimizer.settings.max_weight_norm: expected a number, got false"},
      {"{\"groups\": [\n{\"parameters\": [\"a\"], \"settings\": {\"rule\": \"adam\",\n\"beta1\": "
       "1}}]}",
       "line 3: optimizer.groups[0].adam.beta1: expected 0 or more and below 1, got 1"},
      {"{\"groups\": [\n{\"parameters\": [\"a\"],\n\"settings\": {\"momentum\": -1}}]}",
       "line 3: optimizer.groups[0].sgd.momentum: expected 0 or more, got -1"},
      {"{\"groups\": [{\"parameters\": [\"a\"], \"settings\": {}},\n{\"parameters\": "
       "[\"b\"],\n\"settings\": "
       "{\n\"momentum\": -1}}]}",
       "line 4: optimizer.groups[1].sgd.momentum: expected 0 or more, got -1"},
      {"{\"groups\": [{\n\"parameter\": [\"a\"]}]}",
       "line 2: optimizer.groups[0]: \"parameter\" is none of its fields parameters, settings"},
      {"{\n\"loss_scaling\": 0}", "line 2: optimizer.loss_scaling: expected more than 0, got 0"},
      {"{\"schedule\": [\n{\"kind\": \"poly\"}]}",
       "line 2: optimizer.schedule[0].kind: expected one of constant, step, exponential, cosine, "
       "linear, got \"poly\""},
      {"{\"schedule\": [{\"kind\": \"step\",\n\"updates\": 0}]}",
       "line 2: optimizer.schedule[0].updates: expected 1 or more, got 0"},
      {"{\"schedule\": [{\"lasts\": 3},\n{},\n{}]}",
       "line 2: optimizer.schedule[1].lasts: expected 1 or more, got 0"},
      {"{\"schedule\": [{\n\"lasts\": 3}]}",
       "line 2: optimizer.schedule[0].lasts: expected 0, for the last segment has no end, got 3"},
      {"{\n\"schedule\": []}",
       "line 2: optimizer.schedule: expected at least one segment, got none"},
      {"{\"marked\": {\n\"momentum\": 1}}",
       "line 2: optimizer.marked.momentum: expected true or false, got 1"},
      {"{\"marked\": {\n\"beta1\": true}}",
       "line 2: optimizer.marked.beta1: sgd has no such attribute that may vary; it has "
       "learning_rate"},
      {"{\"settings\": {\n\"momentum\": 1e400}}",
       "line 2: settings.momentum: expected a number that a double can hold, got 1e400"},
      {"{\"groups\": [{},\n{\"settings\": {\"momentum\": -1e400}}]}",
       "line 2: groups[1].settings.momentum: expected a number that a double can hold, got -1e400"},
      {"{\"loss_scaling\": 1,\n\"loss_scaling\": 1}",
       "line 2: \"loss_scaling\" is there twice, first in line 1"},
  };
  for (const auto& [json, expected] : cases) {
    const std::string text =
        refusal(Errc::invalid_argument, [json = json] { optimizer_from_json(json); });
    EXPECT_EQ(text.substr(0, std::string(expected).size()), expected) << text;
  }
}

// A host may have a file of its own for a whole run. Each part of the file is read by itself, and
// is refused with the number of its line in that file.
TEST(OptimizerJson, D1_IsAPartOfAFileThatHoldsAWholeRun) {
  const auto part = [](const JsonValue& file, const std::string& name) {
    for (const JsonValue& value : file.items)
      if (value.name == name) return value;
    return JsonValue{};
  };
  JsonValue file = parse_json(R"({
    "options": {"batch_size": 16},
    "data_loader": {"shuffle": true},
    "optimizer": {"settings": {"rule": "adamw", "weight_decay": 0.5}}
  })");
  EXPECT_EQ(options_from_json(part(file, "options")).batch_size, 16);
  EXPECT_TRUE(data_loader_options_from_json(part(file, "data_loader")).shuffle);
  expect_equal(optimizer_from_json(part(file, "optimizer")), AdamW{.weight_decay = 0.5});
  file = parse_json(R"({
    "options": {"batch_size": 0},
    "data_loader": {"workers": -1},
    "optimizer": {"settings": {"momentum": -2}}
  })");
  const auto invalid = [](auto read) { return refusal(Errc::invalid_argument, read); };
  EXPECT_EQ(invalid([&] { options_from_json(part(file, "options")); }),
            "line 2: options.batch_size: expected 1 or more, got 0");
  EXPECT_EQ(invalid([&] { data_loader_options_from_json(part(file, "data_loader")); }),
            "line 3: data_loader.workers: expected 0 to 1024, got -1");
  EXPECT_EQ(invalid([&] { optimizer_from_json(part(file, "optimizer")); }),
            "line 4: sgd.momentum: expected 0 or more, got -2");
}

}  // namespace
}  // namespace penstock
