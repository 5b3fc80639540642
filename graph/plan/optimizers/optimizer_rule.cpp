#include "graph/plan/optimizers/optimizer_rule.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

template <class... Settings>
std::array<const OptimizerRule*, sizeof...(Settings)> rules_of(
    std::type_identity<std::variant<Settings...>>) {
  return {&described_rule<Settings>()...};
}

template <class... Settings>
std::array<OptimizerSettings, sizeof...(Settings)> defaults_of(
    std::type_identity<std::variant<Settings...>>) {
  return {Settings{}...};
}

void take(Hyper& hyper, const Constant& constant, const double* value) {
  hyper.*std::get<HyperNumber>(constant.value) = *value;
}

void take(Hyper& hyper, const Constant& constant, const bool* value) {
  hyper.*std::get<HyperSwitch>(constant.value) = *value;
}

void take(Hyper& hyper, const Constant& constant, const std::optional<double>* value) {
  if (*value) take(hyper, constant, &**value);
}

}  // namespace

void validate(const OptimizerRule& rule, const Hyper& hyper) {
  for (const Constant& constant : all_constants)
    if (const auto* number = std::get_if<HyperNumber>(&constant.value))
      check_f32(std::string(rule.name) + "." + constant.name, hyper.**number, constant.range);
  if (rule.check) rule.check(hyper);
}

std::span<const OptimizerRule* const> all_optimizer_rules() {
  static const auto rules = rules_of(std::type_identity<OptimizerSettings>());
  return rules;
}

const OptimizerRule& find_optimizer_rule(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptimizerRule* rule : all_optimizer_rules()) {
    if (rule->name == name) return *rule;
    names.push_back(rule->name);
  }
  std::ranges::sort(names);
  throw Error(Errc::invalid_argument, "there is no optimizer named \"" + std::string(name) +
                                          "\"; there are " + joined(names));
}

ParameterRule rule_of(const OptimizerSettings& settings) {
  ParameterRule result{all_optimizer_rules()[settings.index()]};
  OptimizerSettings values = settings;
  for (const RuleConstant& has : result.rule->constants)
    std::visit([&](const auto* value) { take(result.hyper, *has.constant, value); },
               has.field(values));
  return result;
}

std::span<const OptimizerSettings> default_settings() {
  static const auto settings = defaults_of(std::type_identity<OptimizerSettings>());
  return settings;
}

}  // namespace penstock::graph
