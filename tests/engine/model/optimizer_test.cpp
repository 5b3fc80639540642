#include "penstock/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "engine/model/parameter_rules.hpp"
#include "engine/model/variable_attributes.hpp"
#include "penstock/optimizer_rules.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

const std::vector<std::string> parameters{"fc1.weight", "fc1.bias", "fc2.weight"};

std::vector<double> learning_rates(const Optimizer& optimizer) {
  std::vector<double> rates;
  for (const graph::ParameterRule& rule : parameter_rules(optimizer, parameters))
    rates.push_back(rule.hyper.learning_rate);
  return rates;
}

Optimizer grouped(std::vector<std::string> names, const OptimizerSettings& settings) {
  Optimizer optimizer = Sgd{.learning_rate = 0.1};
  optimizer.groups = {{std::move(names), settings}};
  return optimizer;
}

TEST(Optimizer, DefaultsOfEveryRuleAreValid) {
  EXPECT_NO_THROW(Optimizer().validate());
  for (const OptimizerRuleDescription& rule : optimizer_rules())
    EXPECT_NO_THROW(Optimizer{rule.settings}.validate()) << rule.name;
}

using Numbers = std::map<std::string_view, double>;

/// Expects that the rule is called `name`, that its numbers are `numbers`, and that exactly the
/// switches in `switches` are on.
void expect_constants(const OptimizerSettings& settings, std::string_view name,
                      const Numbers& numbers, const std::set<std::string_view>& switches) {
  const auto [rule, hyper] = rule_of(settings);
  EXPECT_EQ(rule->name, name);
  Numbers got;
  std::set<std::string_view> on;
  for (const auto& [constant, field] : rule->constants)
    if (const auto* number = std::get_if<graph::HyperNumber>(&constant->value))
      got[constant->name] = hyper.**number;
    else if (hyper.*std::get<graph::HyperSwitch>(constant->value))
      on.insert(constant->name);
  EXPECT_EQ(got, numbers) << name;
  EXPECT_EQ(on, switches) << name;
}

TEST(Optimizer, R2_3_DefaultsAreThoseOfTheTable) {
  expect_constants(
      Sgd{}, "sgd",
      {{"learning_rate", 0.01}, {"momentum", 0}, {"dampening", 0}, {"weight_decay", 0}}, {});
  Numbers moments{{"learning_rate", 1e-3},
                  {"beta1", 0.9},
                  {"beta2", 0.999},
                  {"eps", 1e-8},
                  {"weight_decay", 0}};
  expect_constants(Adam{}, "adam", moments, {"bias_correction"});
  moments["weight_decay"] = 1e-2;
  expect_constants(AdamW{}, "adamw", moments, {"bias_correction"});
  moments["max_weight_norm"] = 65500;
  expect_constants(Lamb{}, "lamb", moments, {"bias_correction"});
  expect_constants(RmsProp{}, "rmsprop",
                   {{"learning_rate", 1e-2},
                    {"alpha", 0.99},
                    {"eps", 1e-8},
                    {"momentum", 0},
                    {"weight_decay", 0}},
                   {});
}

TEST(Optimizer, EachSettingReachesItsRule) {
  expect_constants(
      Sgd{.learning_rate = 0.1,
          .momentum = 0.2,
          .dampening = 0.3,
          .weight_decay = 0.4,
          .nesterov = true,
          .dampen_first_step = true,
          .keras_variant = true},
      "sgd", {{"learning_rate", 0.1}, {"momentum", 0.2}, {"dampening", 0.3}, {"weight_decay", 0.4}},
      {"nesterov", "dampen_first_step", "keras_variant"});
  expect_constants(RmsProp{.learning_rate = 0.1,
                           .alpha = 0.2,
                           .eps = 0.3,
                           .momentum = 0.4,
                           .weight_decay = 0.5,
                           .centered = true,
                           .tf_variant = true},
                   "rmsprop",
                   {{"learning_rate", 0.1},
                    {"alpha", 0.2},
                    {"eps", 0.3},
                    {"momentum", 0.4},
                    {"weight_decay", 0.5}},
                   {"centered", "tf_variant"});
}

/// Returns settings of a rule with moments, in which nothing has its default value.
template <class Rule>
Rule settings_of_its_own() {
  return {.learning_rate = 0.1,
          .beta1 = 0.2,
          .beta2 = 0.3,
          .eps = 0.4,
          .weight_decay = 0.5,
          .bias_correction = false};
}

TEST(Optimizer, EachSettingOfARuleWithMomentsReachesIt) {
  Numbers numbers{
      {"learning_rate", 0.1}, {"beta1", 0.2}, {"beta2", 0.3}, {"eps", 0.4}, {"weight_decay", 0.5}};
  expect_constants(settings_of_its_own<Adam>(), "adam", numbers, {});
  expect_constants(settings_of_its_own<AdamW>(), "adamw", numbers, {});
  numbers["max_weight_norm"] = 7;
  Lamb lamb = settings_of_its_own<Lamb>();
  lamb.max_weight_norm = 7;
  expect_constants(lamb, "lamb", numbers, {});
}

TEST(Optimizer, GroupsDifferFromTheRestForTheParametersTheyName) {
  const Optimizer optimizer = grouped({"fc2.weight"}, Sgd{.learning_rate = 0.5});
  EXPECT_EQ(learning_rates(optimizer), (std::vector{0.1, 0.1, 0.5}));
}

TEST(Optimizer, GroupsMayFollowAnotherRule) {
  Optimizer optimizer = grouped({"fc2.weight"}, Adam{.beta1 = 0.5});
  optimizer.groups.push_back({{"fc1.bias"}, Lamb{}});
  std::vector<std::string_view> names;
  for (const graph::ParameterRule& rule : parameter_rules(optimizer, parameters))
    names.push_back(rule.rule->name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"sgd", "lamb", "adam"}));
  EXPECT_EQ(parameter_rules(optimizer, parameters)[2].hyper.beta1, 0.5);
  EXPECT_EQ(learning_rates(optimizer), (std::vector{0.1, 1e-3, 1e-3}));
}

TEST(Optimizer, TheLearningRateIsSetInEveryGroup) {
  Optimizer optimizer = grouped({"fc2.weight"}, Sgd{.learning_rate = 0.5});
  optimizer.set_learning_rate(0.25);
  EXPECT_EQ(optimizer.learning_rate(), 0.25);
  EXPECT_EQ(learning_rates(optimizer), (std::vector{0.25, 0.25, 0.25}));
}

struct RefusedConstant {
  Optimizer optimizer;
  const char* text;
};

TEST(Optimizer, WhatIsWrongIsNamed) {
  Optimizer unlimited, too_large, too_small, unscaled, twice = grouped({"fc1.bias"}, Sgd{});
  unlimited.max_grad_norm = std::nan("");
  unscaled.loss_scaling = 0;
  too_large.max_grad_norm = 1e39;
  too_small.max_grad_norm = 1e-50;
  twice.groups.push_back({{"fc1.bias"}, Sgd{}});
  const std::vector<RefusedConstant> cases{
      {AdamW{.beta1 = 1}, "adamw.beta1: expected 0 or more and below 1, got 1"},
      {Sgd{.momentum = -0.5}, "sgd.momentum: expected 0 or more, got -0.5"},
      {AdamW{.beta2 = 0.99999999999},
       "adamw.beta2: expected 0 or more and below 1, got 0.99999999999, which is 1 in f32"},
      {Lamb{.max_weight_norm = 1e-60},
       "lamb.max_weight_norm: expected more than 0, got 1e-60, which is 0 in f32"},
      {unlimited, "optimizer.max_grad_norm: expected 0 or more, got nan"},
      {too_large,
       "optimizer.max_grad_norm: expected more than 0 and at most 3.4028234663852886e+38, got "
       "1e+39"},
      {too_small, "optimizer.max_grad_norm: expected more than 0, got 1e-50, which is 0 in f32"},
      {unscaled, "optimizer.loss_scaling: expected more than 0, got 0"},
      {twice, "optimizer.groups[1]: the parameter \"fc1.bias\" is in a group already"},
      {grouped({"fc1.bias"}, Adam{.beta1 = 1}),
       "optimizer.groups[0].adam.beta1: expected 0 or more and below 1, got 1"},
      {grouped({}, Sgd{}), "optimizer.groups[0]: expected at least one parameter, got none"},
      {grouped({"fc1.bias"}, Sgd{.learning_rate = -1}),
       "optimizer.groups[0].sgd.learning_rate: expected 0 or more, got -1"},
      {Sgd{.dampening = 0.5, .keras_variant = true},
       "sgd.keras_variant: expected a dampening of 0, got 0.5"},
      {grouped({"fc3.bias"}, Sgd{}),
       "optimizer.groups[0]: there is no trainable parameter \"fc3.bias\"; did you mean "
       "\"fc1.bias\"?"},
  };
  for (const RefusedConstant& refused : cases)
    EXPECT_EQ(
        refusal(Errc::invalid_argument, [&] { parameter_rules(refused.optimizer, parameters); }),
        refused.text);
}

// 2.3 of docs/reference.md: constants that are given may vary, and so may the learning rate.
// Defaults are constant until they are marked.
TEST(Optimizer, AttributesAreVariableWhereTheyWereGivenOrMarked) {
  Optimizer optimizer = Sgd{.momentum = 0.9};
  EXPECT_TRUE(optimizer.is_variable("learning_rate"));
  EXPECT_TRUE(optimizer.is_variable("momentum"));
  EXPECT_FALSE(optimizer.is_variable("weight_decay"));
  EXPECT_FALSE(optimizer.is_variable("max_grad_norm"));
  optimizer.groups = {{{"fc1.bias"}, Sgd{.momentum = 0.9, .weight_decay = 0.1}}};
  EXPECT_TRUE(optimizer.is_variable("weight_decay")) << "given in a group";
  optimizer.mark_as_constant("learning_rate").mark_as_variable("max_grad_norm");
  EXPECT_FALSE(optimizer.is_variable("learning_rate"));
  EXPECT_TRUE(optimizer.is_variable("max_grad_norm"));
}

TEST(Optimizer, AttributesOfOtherRulesCannotBeMarked) {
  Optimizer optimizer = Sgd{};
  const char* text =
      "optimizer.marked.beta1: sgd has no such attribute that may vary; it has learning_rate, "
      "momentum, "
      "dampening, weight_decay, max_grad_norm, loss_scaling";
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { optimizer.mark_as_variable("beta1"); }), text);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { optimizer.mark_as_constant("beta1"); }), text);
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { optimizer.mark_as_variable("nesterov"); }),
            "accepted")
      << "a switch";
}

TEST(Optimizer, AttributesOfAllItsRulesCanBeMarked) {
  Optimizer optimizer = grouped({"fc1.bias"}, Adam{});
  EXPECT_FALSE(optimizer.is_variable("beta1"));
  EXPECT_FALSE(optimizer.is_variable("momentum"));
  EXPECT_TRUE(optimizer.mark_as_variable("beta1").is_variable("beta1"));
  // The default of one rule may be another number than that of another rule.
  EXPECT_FALSE(grouped({"fc1.bias"}, AdamW{}).is_variable("weight_decay"));
  EXPECT_TRUE(grouped({"fc1.bias"}, AdamW{.weight_decay = 0}).is_variable("weight_decay"));
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { optimizer.mark_as_variable("alpha"); }),
            "optimizer.marked.alpha: sgd, adam have no such attribute that may vary; they have "
            "learning_rate, momentum, dampening, weight_decay, beta1, beta2, eps, max_grad_norm, "
            "loss_scaling");
}

TEST(Optimizer, TheRuleOfAParameterIsKept) {
  const Optimizer first = grouped({"fc1.bias"}, Adam{});
  const auto verdict = [&](const Optimizer& next) {
    return refusal(Errc::invalid_argument, [&] { expect_rules_kept(first, next, parameters); });
  };
  EXPECT_EQ(verdict(grouped({"fc1.bias"}, Adam{.beta1 = 0.5})), "accepted");
  EXPECT_EQ(verdict(grouped({"fc1.bias"}, AdamW{})),
            "optimizer: the rule of parameter \"fc1.bias\" is adam, and cannot become adamw: make "
            "a new TrainingModel for that");
  EXPECT_EQ(verdict(Sgd{}),
            "optimizer: the rule of parameter \"fc1.bias\" is adam, and cannot become sgd: make a "
            "new TrainingModel for that");
  EXPECT_EQ(verdict(Adam{}),
            "optimizer: the rule is sgd, and cannot become adam: make a new TrainingModel for "
            "that");
}

struct Change {
  Optimizer first, next;
  const char* text;
};

Optimizer limited(Optimizer optimizer, double max_grad_norm) {
  optimizer.max_grad_norm = max_grad_norm;
  return optimizer;
}

Optimizer exactly(Optimizer optimizer) {
  optimizer.exact_max_grad_norm = true;
  return optimizer;
}

TEST(Optimizer, ConstantsThatWouldChangeAreNamed) {
  const Change table[] = {
      {Sgd{}, Sgd{.weight_decay = 0.5},
       "optimizer: sgd.weight_decay of parameter \"fc1.weight\" is constant, 0, and cannot become "
       "0.5: mark_as_variable(\"weight_decay\") on the optimizer that a TrainingModel is made with "
       "allows that"},
      {Sgd{.learning_rate = 0.1}, grouped({"fc2.weight"}, Sgd{.dampening = 0.25}),
       "optimizer: sgd.dampening of parameter \"fc2.weight\" is constant, 0, and cannot become "
       "0.25: mark_as_variable(\"dampening\") on the optimizer that a TrainingModel is made with "
       "allows that"},
      {Sgd{}, limited(Sgd{}, 2),
       "optimizer: max_grad_norm is constant, 0, and cannot become 2: "
       "mark_as_variable(\"max_grad_norm\") on the optimizer that a TrainingModel is made with "
       "allows that"},
      {Optimizer(Sgd{}).mark_as_constant("learning_rate"), Sgd{.learning_rate = 0.5},
       "optimizer: sgd.learning_rate of parameter \"fc1.weight\" is constant, 0.01, and cannot "
       "become 0.5: mark_as_variable(\"learning_rate\") on the optimizer that a TrainingModel is "
       "made with allows that"},
      {Sgd{.momentum = 0.9}, Sgd{.momentum = 0.9, .nesterov = true},
       "optimizer: sgd.nesterov of parameter \"fc1.weight\" is constant, off, and cannot become "
       "on: "
       "make a new TrainingModel for that"},
      {limited(Sgd{}, 2), exactly(limited(Sgd{}, 2)),
       "optimizer: exact_max_grad_norm is constant, off, and cannot become on: make a new "
       "TrainingModel for that"},
  };
  for (const Change& change : table)
    EXPECT_EQ(refusal(Errc::invalid_argument,
                      [&] { expect_constants_kept(change.first, change.next, parameters); }),
              change.text);
}

TEST(Optimizer, VariablesMayChange) {
  const Optimizer marked = Optimizer(Sgd{}).mark_as_variable("weight_decay");
  const Optimizer clipped = limited(Sgd{}, 1);
  EXPECT_NO_THROW(expect_constants_kept(marked, Sgd{.weight_decay = 0.5}, parameters));
  EXPECT_NO_THROW(expect_constants_kept(clipped, limited(Sgd{}, 2), parameters));
  EXPECT_NO_THROW(expect_constants_kept(
      Sgd{.learning_rate = 0.1}, grouped({"fc2.weight"}, Sgd{.learning_rate = 0}), parameters));
  EXPECT_NO_THROW(expect_constants_kept(AdamW{.beta1 = 0.5}, AdamW{.beta1 = 0.25}, parameters));
}

}  // namespace
}  // namespace penstock
