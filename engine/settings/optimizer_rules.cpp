#include "penstock/optimizer_rules.hpp"

#include <optional>
#include <string>

#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using graph::Constant;
using graph::Hyper;
using graph::OptimizerRule;
using graph::rule_of;
using graph::RuleConstant;

double value_in(const Hyper& hyper, const Constant& constant) {
  return std::visit([&](const auto field) { return static_cast<double>(hyper.*field); },
                    constant.value);
}

OptimizerConstant described(const Constant& constant, const Hyper& defaults) {
  return {.name = constant.name,
          .torch_name = constant.torch_name,
          .meaning = constant.meaning,
          .is_switch = std::holds_alternative<graph::HyperSwitch>(constant.value),
          .default_value = value_in(defaults, constant),
          .low = constant.range.low,
          .high = constant.range.high,
          .low_allowed = !constant.range.above_low,
          .high_allowed = !constant.range.below_high};
}

OptimizerRuleDescription described(const OptimizerSettings& defaults) {
  const graph::ParameterRule rule = rule_of(defaults);
  OptimizerRuleDescription description{rule.rule->name, defaults, {}};
  for (const RuleConstant& entry : rule.rule->constants)
    description.constants.push_back(described(*entry.constant, rule.hyper));
  return description;
}

const RuleConstant& find_constant(const OptimizerRule& rule, std::string_view name) {
  const auto name_of = [](const RuleConstant& entry) { return entry.constant->name; };
  for (const RuleConstant& entry : rule.constants)
    if (name == entry.constant->name || (!name.empty() && name == entry.constant->torch_name))
      return entry;
  throw Error(Errc::invalid_argument, std::string(rule.name) + " has no constant " +
                                          quoted_text(name) + "; it has " +
                                          joined(rule.constants, name_of));
}

void set(double* field, const std::string&, double value) {
  *field = value;
}

void set(std::optional<double>* field, const std::string&, double value) {
  *field = value;
}

void set(bool* field, const std::string& name, double value) {
  if (value != 0 && value != 1)
    throw Error(Errc::invalid_argument,
                name + ": expected 1 or 0, as it is a switch, got " + number_text(value));
  *field = value == 1;
}

}  // namespace

std::vector<OptimizerRuleDescription> optimizer_rules() {
  return on_hosts_thread("optimizer_rules", [] {
    std::vector<OptimizerRuleDescription> rules;
    for (const OptimizerSettings& defaults : graph::default_settings())
      rules.push_back(described(defaults));
    return rules;
  });
}

void set_constant(OptimizerSettings& settings, std::string_view name, double value) {
  on_hosts_thread("set_constant", [&] {
    const OptimizerRule& rule = *rule_of(settings).rule;
    const RuleConstant& found = find_constant(rule, name);
    const std::string path = std::string(rule.name) + "." + found.constant->name;
    std::visit([&](auto* field) { set(field, path, value); }, found.field(settings));
  });
}

}  // namespace penstock
