#include "penstock/optimizer_rules.hpp"

#include <cmath>
#include <string>

#include "penstock/optimizer.hpp"
#include "penstock/optimizer_json.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

/// Returns the JSON of `settings` with `value` for one constant.
std::string json_with(OptimizerSettings settings, std::string_view constant, double value) {
  set_constant(settings, constant, value);
  return to_json(Optimizer{settings});
}

/// Returns `json` without the value of `field`, which is a number or a word.
std::string without_value(std::string json, const std::string& field) {
  const std::size_t value = json.find(field) + field.size();
  return json.erase(value, json.find_first_of(",\n}", value) - value);
}

/// Returns why an optimizer with `value` for one constant is refused, or "accepted".
std::string refused_with(OptimizerSettings settings, std::string_view constant, double value) {
  set_constant(settings, constant, value);
  return refusal(Errc::invalid_argument, [&] { Optimizer{settings}.validate(); });
}

/// Calls `check` with every rule and every constant of it.
void for_each_constant(const auto& check) {
  for (const OptimizerRuleDescription& rule : optimizer_rules())
    for (const OptimizerConstant& constant : rule.constants) {
      SCOPED_TRACE(std::string(rule.name) + "." + std::string(constant.name));
      check(rule, constant);
    }
}

TEST(OptimizerRules, AreThoseOfTheSettings) {
  std::size_t index = 0;
  for (const OptimizerRuleDescription& rule : optimizer_rules()) {
    EXPECT_EQ(rule.settings.index(), index++);
    const std::string json = to_json(Optimizer{rule.settings});
    EXPECT_NE(json.find("\"rule\": \"" + std::string(rule.name) + "\""), json.npos) << json;
  }
  EXPECT_EQ(index, std::variant_size_v<OptimizerSettings>);
}

TEST(OptimizerRules, AConstantIsTheFieldOfItsName) {
  for_each_constant([](const auto& rule, const auto& constant) {
    const std::string changed = json_with(rule.settings, constant.name, 1 - constant.default_value);
    const std::string field = "\"" + std::string(constant.name) + "\": ";
    const std::string unchanged = to_json(Optimizer{rule.settings});
    EXPECT_NE(unchanged.find(field), unchanged.npos);
    EXPECT_NE(changed, unchanged);
    EXPECT_EQ(without_value(changed, field), without_value(unchanged, field))
        << "another field has changed as well";
  });
}

TEST(OptimizerRules, DefaultsAreThoseOfTheSettings) {
  for_each_constant([](const auto& rule, const auto& constant) {
    if (constant.name == "max_weight_norm") return;  // An absent value stands for the default.
    EXPECT_EQ(json_with(rule.settings, constant.name, constant.default_value),
              to_json(Optimizer{rule.settings}));
  });
}

TEST(OptimizerRules, BoundsAreThoseOfTheCheck) {
  for_each_constant([](const auto& rule, const auto& constant) {
    if (constant.is_switch) return;
    const auto refused = [&](double value) {
      return refused_with(rule.settings, constant.name, value) != "accepted";
    };
    EXPECT_EQ(refused(constant.low), !constant.low_allowed);
    EXPECT_TRUE(refused(constant.low - 1));
    if (std::isfinite(constant.high)) {
      EXPECT_EQ(refused(constant.high), !constant.high_allowed);
    }
    EXPECT_TRUE(refused(std::isfinite(constant.high) ? constant.high + 1 : 1e39));
  });
}

// Since the rules agree, a program can offer such a constant as one option with one range.
TEST(OptimizerRules, AgreeOnTheConstantsThatTheyShare) {
  for_each_constant([](const auto& rule, const auto& constant) {
    for_each_constant([&](const auto& other, const auto& same) {
      if (same.name != constant.name) return;
      SCOPED_TRACE("beside " + std::string(rule.name));
      EXPECT_EQ(same.is_switch, constant.is_switch);
      EXPECT_EQ(same.low, constant.low);
      EXPECT_EQ(same.high, constant.high);
      EXPECT_EQ(same.low_allowed, constant.low_allowed);
      EXPECT_EQ(same.high_allowed, constant.high_allowed);
      if (same.is_switch) {
        EXPECT_EQ(same.default_value, constant.default_value) << other.name;
      }
    });
  });
}

TEST(OptimizerRules, EveryConstantIsExplained) {
  for_each_constant(
      [](const auto&, const auto& constant) { EXPECT_FALSE(constant.meaning.empty()); });
}

TEST(OptimizerRules, AConstantMayBeNamedAsInPyTorch) {
  OptimizerSettings settings = AdamW{};
  set_constant(settings, "lr", 0.5);
  set_constant(settings, "betas[0]", 0.25);
  set_constant(settings, "betas[1]", 0.125);
  EXPECT_EQ(std::get<AdamW>(settings).learning_rate, 0.5);
  EXPECT_EQ(std::get<AdamW>(settings).beta1, 0.25);
  EXPECT_EQ(std::get<AdamW>(settings).beta2, 0.125);
}

TEST(OptimizerRules, WhatIsNoConstantOfTheRuleIsRefused) {
  const auto refused = [](OptimizerSettings settings, const char* name, double value) {
    return refusal(Errc::invalid_argument, [&] { set_constant(settings, name, value); });
  };
  EXPECT_EQ(refused(RmsProp{}, "beta1", 0.5),
            "rmsprop has no constant \"beta1\"; it has learning_rate, alpha, eps, momentum, "
            "weight_decay, centered, tf_variant");
  EXPECT_EQ(refused(Lamb{}, "", 0.5).substr(0, 24), "lamb has no constant \"\";");
  EXPECT_EQ(refused(Sgd{}, "nesterov", 0.5),
            "sgd.nesterov: expected 1 or 0, as it is a switch, got 0.5");
}

}  // namespace
}  // namespace penstock
