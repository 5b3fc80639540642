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

/// Returns the field of the rule's number called `name`, or null if the rule has no such number.
const graph::HyperNumber* find_number(const Optimizer& optimizer, std::string_view name) {
  for (const auto& [constant, field] : rule_of(optimizer.settings).rule->constants)
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
  if (find_number(optimizer, attribute) || find_optimizer_attribute(attribute)) return;
  const graph::OptimizerRule& rule = *rule_of(optimizer.settings).rule;
  std::vector<std::string_view> names;
  for (const auto& [constant, field] : rule.constants)
    if (std::holds_alternative<graph::HyperNumber>(constant->value))
      names.emplace_back(constant->name);
  for (const OptimizerAttribute& attribute_of_optimizer : optimizer_attributes)
    names.push_back(attribute_of_optimizer.name);
  throw Error(Errc::invalid_argument, "optimizer.marked." + printable(shortened(attribute, 100)) +
                                          ": " + std::string(rule.name) +
                                          " has no such attribute that may vary; it has " +
                                          joined(names));
}

bool was_given(const Optimizer& optimizer, std::string_view attribute) {
  if (attribute == "learning_rate") return true;
  if (const OptimizerAttribute* attribute_of_optimizer = find_optimizer_attribute(attribute))
    return optimizer.*attribute_of_optimizer->value != Optimizer().*attribute_of_optimizer->value;
  const graph::HyperNumber value = *find_number(optimizer, attribute);
  const OptimizerSettings& defaults = graph::default_settings()[optimizer.settings.index()];
  const double untouched = rule_of(defaults).hyper.*value;
  const auto is_changed = [&](const OptimizerSettings& settings) {
    return rule_of(settings).hyper.*value != untouched;
  };
  return is_changed(optimizer.settings) ||
         std::ranges::any_of(optimizer.groups, is_changed, &ParameterGroup::settings);
}

void expect_rule_kept(const Optimizer& first, const Optimizer& next) {
  const std::string_view was = rule_of(first.settings).rule->name,
                         now = rule_of(next.settings).rule->name;
  if (was != now)
    throw Error(Errc::invalid_argument, "optimizer: the rule is " + std::string(was) +
                                            ", and cannot become " + std::string(now) + ": " +
                                            only_anew);
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
