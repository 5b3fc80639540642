#include "engine/model/variable_attributes.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/model/parameter_rules.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

struct OptimizerAttribute {
  std::string_view name;
  double Optimizer::*value;
};

/// `optimizer_attributes` has the attributes of the optimizer itself, rather than of its rule.
constexpr OptimizerAttribute optimizer_attributes[] = {{"max_grad_norm", &Optimizer::max_grad_norm},
                                                       {"loss_scaling", &Optimizer::loss_scaling}};

/// Returns the settings of the parameters in no group, and those of each group.
std::vector<const OptimizerSettings*> all_settings(const Optimizer& optimizer) {
  std::vector<const OptimizerSettings*> all{&optimizer.settings};
  for (const ParameterGroup& group : optimizer.groups) all.push_back(&group.settings);
  return all;
}

/// Returns the rules of the optimizer, each once.
std::vector<const graph::OptimizerRule*> rules_of(const Optimizer& optimizer) {
  std::vector<const graph::OptimizerRule*> rules;
  for (const OptimizerSettings* settings : all_settings(optimizer))
    if (const auto* rule = rule_of(*settings).rule; std::ranges::count(rules, rule) == 0)
      rules.push_back(rule);
  return rules;
}

/// Returns the field of the rule's number called `name`, or null if the rule has no such number.
const graph::HyperNumber* find_number(const graph::OptimizerRule& rule, std::string_view name) {
  for (const auto& [constant, field] : rule.constants)
    if (name == constant->name) return std::get_if<graph::HyperNumber>(&constant->value);
  return nullptr;
}

const OptimizerAttribute* find_optimizer_attribute(std::string_view name) {
  const auto at = std::ranges::find(optimizer_attributes, name, &OptimizerAttribute::name);
  return at == std::end(optimizer_attributes) ? nullptr : at;
}

constexpr const char* only_anew = "make a new TrainingModel for that";

[[noreturn]] void refuse(const std::string& attribute, const std::string& of,
                         const std::string& was, const std::string& now,
                         const std::string& advice) {
  throw Error(Errc::invalid_argument, "optimizer: " + attribute + of + " is constant, " + was +
                                          ", and cannot become " + now + ": " + advice);
}

/// Returns the end of the refusal's text, which says how the attribute can be allowed to change.
std::string advice_for(std::string_view attribute) {
  return "mark_as_variable(\"" + std::string(attribute) +
         "\") on the optimizer that a TrainingModel is made with allows that";
}

const char* on_off(bool a_switch) {
  return a_switch ? "on" : "off";
}

/// Returns the names of the attributes of the optimizer itself, and of those of the rules that are
/// numbers, each once.
std::vector<std::string_view> attributes_of(const std::vector<const graph::OptimizerRule*>& rules) {
  std::vector<std::string_view> names;
  for (const graph::OptimizerRule* rule : rules)
    for (const auto& [constant, field] : rule->constants)
      if (std::holds_alternative<graph::HyperNumber>(constant->value) &&
          std::ranges::count(names, constant->name) == 0)
        names.emplace_back(constant->name);
  for (const OptimizerAttribute& attribute : optimizer_attributes) names.push_back(attribute.name);
  return names;
}

void expect_rule_kept(const std::string& of, const graph::ParameterRule& before,
                      const graph::ParameterRule& after) {
  if (before.rule == after.rule) return;
  throw Error(Errc::invalid_argument, "optimizer: the rule" + of + " is " +
                                          std::string(before.rule->name) + ", and cannot become " +
                                          std::string(after.rule->name) + ": " + only_anew);
}

void expect_kept(const Optimizer& first, const graph::ParameterRule& before,
                 const graph::ParameterRule& after, const std::string& parameter) {
  const std::string of = " of parameter " + quoted_text(parameter);
  for (const auto& [constant, field] : before.rule->constants) {
    const std::string attribute = std::string(before.rule->name) + "." + constant->name;
    if (const auto* number = std::get_if<graph::HyperNumber>(&constant->value)) {
      const double was = before.hyper.**number, now = after.hyper.**number;
      if (was != now && !first.is_variable(constant->name))
        refuse(attribute, of, number_text(was), number_text(now), advice_for(constant->name));
    } else {
      const auto a_switch = std::get<graph::HyperSwitch>(constant->value);
      const bool was = before.hyper.*a_switch, now = after.hyper.*a_switch;
      if (was != now) refuse(attribute, of, on_off(was), on_off(now), only_anew);
    }
  }
}

}  // namespace

void expect_attribute(const Optimizer& optimizer, std::string_view attribute) {
  const std::vector<const graph::OptimizerRule*> rules = rules_of(optimizer);
  const auto has_it = [&](const auto* rule) { return find_number(*rule, attribute) != nullptr; };
  if (std::ranges::any_of(rules, has_it) || find_optimizer_attribute(attribute)) return;
  const bool several = rules.size() > 1;
  throw Error(Errc::invalid_argument,
              "optimizer.marked." + printable(shortened(attribute, 100)) + ": " +
                  joined(rules, [](const auto* rule) { return std::string(rule->name); }) +
                  (several ? " have" : " has") + " no such attribute that may vary; " +
                  (several ? "they have " : "it has ") + joined(attributes_of(rules)));
}

bool was_given(const Optimizer& optimizer, std::string_view attribute) {
  if (attribute == "learning_rate") return true;
  if (const OptimizerAttribute* attribute_of_optimizer = find_optimizer_attribute(attribute))
    return optimizer.*attribute_of_optimizer->value != Optimizer().*attribute_of_optimizer->value;
  return std::ranges::any_of(all_settings(optimizer), [&](const OptimizerSettings* settings) {
    const auto [rule, hyper] = rule_of(*settings);
    const graph::HyperNumber* const value = find_number(*rule, attribute);
    const OptimizerSettings& defaults = graph::default_settings()[settings->index()];
    return value && hyper.**value != rule_of(defaults).hyper.**value;
  });
}

void expect_rules_kept(const Optimizer& first, const Optimizer& next,
                       std::span<const std::string> parameters) {
  expect_rule_kept("", rule_of(first.settings), rule_of(next.settings));
  const auto before = parameter_rules(first, parameters);
  const auto after = parameter_rules(next, parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    expect_rule_kept(" of parameter " + quoted_text(parameters[i]), before[i], after[i]);
}

void expect_constants_kept(const Optimizer& first, const Optimizer& next,
                           std::span<const std::string> parameters) {
  const auto before = parameter_rules(first, parameters);
  const auto after = parameter_rules(next, parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    expect_kept(first, before[i], after[i], parameters[i]);
  for (const OptimizerAttribute& attribute_of_optimizer : optimizer_attributes)
    if (first.*attribute_of_optimizer.value != next.*attribute_of_optimizer.value &&
        !first.is_variable(attribute_of_optimizer.name))
      refuse(std::string(attribute_of_optimizer.name), "",
             number_text(first.*attribute_of_optimizer.value),
             number_text(next.*attribute_of_optimizer.value),
             advice_for(attribute_of_optimizer.name));
  if (first.exact_max_grad_norm != next.exact_max_grad_norm)
    refuse("exact_max_grad_norm", "", on_off(first.exact_max_grad_norm),
           on_off(next.exact_max_grad_norm), only_anew);
}

}  // namespace penstock
