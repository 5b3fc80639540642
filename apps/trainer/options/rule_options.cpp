#include "apps/trainer/options/rule_options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "apps/trainer/options/excerpt.hpp"
#include "apps/trainer/options/read_value.hpp"
#include "apps/trainer/options/refuse.hpp"
#include "penstock/error.hpp"
#include "penstock/optimizer_rules.hpp"

namespace trainer {
namespace {

using penstock::OptimizerConstant;
using penstock::OptimizerRuleDescription;

const std::vector<OptimizerRuleDescription>& all_rules() {
  static const std::vector<OptimizerRuleDescription> rules = penstock::optimizer_rules();
  return rules;
}

/// Returns the rule called `name`. @throws penstock::Error invalid_argument if there is none.
const OptimizerRuleDescription& find_rule(const std::string& name) {
  const auto rule = std::ranges::find(all_rules(), name, &OptimizerRuleDescription::name);
  if (rule == all_rules().end())
    refuse("--optimizer: expected " + enumeration(rule_names(), " or ") + ", got \"" +
           excerpt(name, longest_name) + '"');
  return *rule;
}

/// A SharedConstant is a constant that one or more rules have. It has the description of the first
/// of these rules, and the default of each rule. Rules agree on the range of a constant that they
/// share, and on the default of a switch.
struct SharedConstant {
  OptimizerConstant constant;
  std::vector<std::string> rules = {};
  std::vector<double> defaults = {};
};

/// Returns the constants that are options, in the order in which they first occur in the rules.
std::vector<SharedConstant> shared_constants() {
  std::vector<SharedConstant> shared;
  for (const OptimizerRuleDescription& rule : all_rules())
    for (const OptimizerConstant& constant : rule.constants) {
      if (constant.name == "learning_rate") continue;
      const auto known = std::ranges::find(
          shared, constant.name, [](const SharedConstant& entry) { return entry.constant.name; });
      SharedConstant& entry =
          known != shared.end() ? *known : shared.emplace_back(SharedConstant{constant});
      entry.rules.emplace_back(rule.name);
      entry.defaults.push_back(constant.default_value);
    }
  return shared;
}

bool is_on_by_default(const OptimizerConstant& constant) {
  return constant.is_switch && constant.default_value != 0;
}

std::string option_name(const OptimizerConstant& constant) {
  std::string name(constant.name);
  std::ranges::replace(name, '_', '-');
  return is_on_by_default(constant) ? "no-" + name : name;
}

/// Returns the smallest number above `low` that the engine can tell from `low`.
double next_above(double low) {
  if (low == 0) return smallest_positive;
  return std::nextafter(static_cast<float>(low), std::numeric_limits<float>::infinity());
}

NumberRange range_of(const OptimizerConstant& constant) {
  NumberRange range{.least = constant.low_allowed ? constant.low : next_above(constant.low)};
  range.most = std::min(range.most, constant.high);
  range.open_most = !constant.high_allowed && constant.high == range.most;
  return range;
}

/// Returns the defaults of the rules, such as "0" or "0.01 for adamw and lamb, else 0".
std::string defaults_text(const SharedConstant& shared, const ValueKind<double>& kind) {
  std::map<double, std::vector<std::string>> rules_of;
  for (std::size_t i = 0; i < shared.rules.size(); ++i)
    rules_of[shared.defaults[i]].push_back(shared.rules[i]);
  const auto usual =
      std::ranges::max_element(rules_of, {}, [](const auto& entry) { return entry.second.size(); });
  std::string text;
  for (const auto& [value, rules] : rules_of)
    if (value != usual->first) text += kind.show(value) + " for " + enumeration(rules) + ", ";
  return text + (text.empty() ? "" : "else ") + kind.show(usual->first);
}

/// Returns the help text of the option that sets `shared`, without its default.
std::string explanation(const SharedConstant& shared) {
  const std::string text = std::string(is_on_by_default(shared.constant) ? "do not " : "") +
                           std::string(shared.constant.meaning);
  if (shared.rules.size() == all_rules().size()) return text;
  return text + "; for " + enumeration(shared.rules);
}

OptionRow switch_row(const SharedConstant& shared) {
  const std::string constant(shared.constant.name);
  const double value = is_on_by_default(shared.constant) ? 0 : 1;
  const auto set = [=](TrainerOptions& options, const std::string& text) {
    if (read_switch(text))
      options.optimizer.constants[constant] = value;
    else
      options.optimizer.constants.erase(constant);
  };
  const auto get = [=](const TrainerOptions& options) {
    return options.optimizer.constants.contains(constant) ? std::optional<std::string>("")
                                                          : std::nullopt;
  };
  return {option_name(shared.constant), "", explanation(shared), set, get};
}

OptionRow number_row(const SharedConstant& shared) {
  const std::string constant(shared.constant.name);
  const ValueKind<double> kind = number(range_of(shared.constant));
  const auto set = [=, read = kind.read](TrainerOptions& options, const std::string& text) {
    if (text.empty() && options.optimizer.constants.erase(constant) > 0) return;
    options.optimizer.constants[constant] = read(text);
  };
  const auto get = [=, show = kind.show](const TrainerOptions& options) {
    const auto found = options.optimizer.constants.find(constant);
    return found != options.optimizer.constants.end() ? std::optional(show(found->second))
                                                      : std::nullopt;
  };
  const std::string help = explanation(shared) + " [" + defaults_text(shared, kind) + "]";
  return {option_name(shared.constant), kind.value_name, help, set, get, kind.is_number};
}

/// Throws `error` with the option's name in place of the constant's: the engine names a constant as
/// in "sgd.nesterov: expected". An error whose text does not begin with a constant is thrown as it
/// is.
[[noreturn]] void refuse_by_option(const std::string& rule, const penstock::Error& error) {
  const std::string text = error.what();
  for (const OptimizerConstant& constant : find_rule(rule).constants) {
    const std::string named = rule + "." + std::string(constant.name) + ": ";
    if (text.starts_with(named))
      throw penstock::Error(error.code(),
                            "--" + option_name(constant) + ": " + text.substr(named.size()));
  }
  throw error;
}

}  // namespace

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const OptimizerRuleDescription& rule : all_rules()) names.emplace_back(rule.name);
  return names;
}

std::vector<OptionRow> constant_rows() {
  std::vector<OptionRow> rows;
  for (const SharedConstant& shared : shared_constants())
    rows.push_back(shared.constant.is_switch ? switch_row(shared) : number_row(shared));
  return rows;
}

void validate_rule(const OptimizerOptions& options) {
  find_rule(options.rule);
  for (const SharedConstant& shared : shared_constants()) {
    const bool is_given = options.constants.contains(std::string(shared.constant.name));
    if (!is_given || std::ranges::count(shared.rules, options.rule) > 0) continue;
    const std::string name = option_name(shared.constant);
    refuse("--" + name + ": " + options.rule + " has no " + name + "; it belongs to " +
           enumeration(shared.rules));
  }
  try {
    make_optimizer(options).validate();
  } catch (const penstock::Error& error) {
    refuse_by_option(options.rule, error);
  }
}

penstock::Optimizer make_optimizer(const OptimizerOptions& options) {
  penstock::Optimizer optimizer;
  optimizer.settings = find_rule(options.rule).settings;
  optimizer.set_learning_rate(options.learning_rate);
  for (const auto& [name, value] : options.constants) set_constant(optimizer.settings, name, value);
  optimizer.max_grad_norm = options.max_grad_norm.value_or(0);
  optimizer.loss_scaling = options.loss_scaling;
  return optimizer;
}

}  // namespace trainer
