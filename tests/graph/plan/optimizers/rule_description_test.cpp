#include "graph/plan/optimizers/rule_description.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <type_traits>
#include <variant>

namespace penstock::graph {
namespace {

/// An AnyValue converts to any number type, so that it can initialize any field of a rule's
/// settings.
struct AnyValue {
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr operator T() const { return {}; }
};

template <class Settings, class... Values>
consteval std::size_t count_fields() {
  if constexpr (requires { Settings{Values{}..., AnyValue{}}; })
    return count_fields<Settings, Values..., AnyValue>();
  else
    return sizeof...(Values);
}

/// Gives a field a value that no rule has by default.
void change(double* number) {
  *number = 0.3125;
}

void change(std::optional<double>* number) {
  *number = 0.3125;
}

void change(bool* truth) {
  *truth = !*truth;
}

bool equal(const Constant& constant, const Hyper& one, const Hyper& other) {
  return std::visit([&](auto field) { return one.*field == other.*field; }, constant.value);
}

/// Returns the names of the constants whose values differ.
std::string changed(const Hyper& before, const Hyper& after) {
  std::string names;
  for (const Constant& constant : all_constants)
    if (!equal(constant, before, after)) names += std::string(constant.name) + " ";
  return names;
}

TEST(RuleDescription, NamesEveryFieldOfTheSettings) {
  for (const OptimizerSettings& defaults : default_settings()) {
    OptimizerSettings settings = defaults;
    std::set<SettingsField> fields;
    for (const RuleConstant& has : rule_of(settings).rule->constants)
      fields.insert(has.field(settings));
    const std::size_t expected = std::visit(
        []<class Settings>(const Settings&) { return count_fields<Settings>(); }, settings);
    EXPECT_EQ(fields.size(), expected) << rule_of(settings).rule->name;
  }
}

TEST(RuleDescription, AFieldOfTheSettingsChangesTheConstantOfItsNameAndNoOther) {
  for (const OptimizerSettings& defaults : default_settings())
    for (const RuleConstant& has : rule_of(defaults).rule->constants) {
      OptimizerSettings settings = defaults;
      std::visit([](auto* field) { change(field); }, has.field(settings));
      EXPECT_EQ(changed(rule_of(defaults).hyper, rule_of(settings).hyper),
                std::string(has.constant->name) + " ")
          << rule_of(defaults).rule->name;
    }
}

TEST(RuleDescription, NoTwoConstantsShareANameOrAField) {
  std::set<std::string> names;
  for (const Constant& constant : all_constants) {
    EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
    Hyper hyper;
    std::visit(
        [&](auto field) {
          using Value = std::remove_reference_t<decltype(hyper.*field)>;
          change(static_cast<Value*>(&(hyper.*field)));
        },
        constant.value);
    EXPECT_EQ(changed({}, hyper), std::string(constant.name) + " ");
  }
}

TEST(RuleDescription, AnAbsentNumberLeavesTheConstantsDefault) {
  EXPECT_EQ(rule_of(Lamb{}).hyper.max_weight_norm, Hyper().max_weight_norm);
}

}  // namespace
}  // namespace penstock::graph
