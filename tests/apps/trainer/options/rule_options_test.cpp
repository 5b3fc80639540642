#include "apps/trainer/options/rule_options.hpp"

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace trainer {
namespace {

std::string refusal_of(const OptimizerOptions& options) {
  try {
    validate_rule(options);
  } catch (const penstock::Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RuleOptions, RefuseARuleThatDoesNotExist) {
  EXPECT_EQ(refusal_of({.rule = "adam2"}),
            "--optimizer: expected sgd, adam, adamw, rmsprop or lamb, got \"adam2\"");
  EXPECT_EQ(refusal_of({.rule = "adam"}), "accepted");
}

TEST(RuleOptions, RefuseConstantsOfOtherRules) {
  EXPECT_EQ(refusal_of({.rule = "sgd", .constants = {{"beta1", 0.5}}}),
            "--beta1: sgd has no beta1; it belongs to adam, adamw and lamb");
}

TEST(RuleOptions, SetTheConstantsThatAreGiven) {
  const penstock::Optimizer optimizer =
      make_optimizer({.rule = "adamw", .learning_rate = 0.25, .constants = {{"beta1", 0.5}}});
  const auto& settings = std::get<penstock::AdamW>(optimizer.settings);
  EXPECT_EQ(settings.learning_rate, 0.25);
  EXPECT_EQ(settings.beta1, 0.5);
  EXPECT_EQ(settings.beta2, penstock::AdamW{}.beta2);
}

}  // namespace
}  // namespace trainer
