#include "penstock/optimizer_json.hpp"

#include <ostream>

#include "engine/model/optimizer_rules.hpp"
#include "engine/settings/json_fields.hpp"
#include "graph/values/joined.hpp"

namespace penstock {

// The fields of each rule. The bindings name all of them: a new one must be listed here, or this
// does not compile.

void each_field(MaybeConst<Sgd> auto& rule, const auto& visit) {
  auto& [learning_rate, momentum, dampening, weight_decay, nesterov, dampen_first_step,
         keras_variant] = rule;
  visit("learning_rate", learning_rate);
  visit("momentum", momentum);
  visit("dampening", dampening);
  visit("weight_decay", weight_decay);
  visit("nesterov", nesterov);
  visit("dampen_first_step", dampen_first_step);
  visit("keras_variant", keras_variant);
}

template <class Rule>
requires MaybeConst<Rule, Adam> || MaybeConst<Rule, AdamW>
void each_field(Rule& rule, const auto& visit) {
  auto& [learning_rate, beta1, beta2, eps, weight_decay, bias_correction] = rule;
  visit("learning_rate", learning_rate);
  visit("beta1", beta1);
  visit("beta2", beta2);
  visit("eps", eps);
  visit("weight_decay", weight_decay);
  visit("bias_correction", bias_correction);
}

void each_field(MaybeConst<RmsProp> auto& rule, const auto& visit) {
  auto& [learning_rate, alpha, eps, momentum, weight_decay, centered, tf_variant] = rule;
  visit("learning_rate", learning_rate);
  visit("alpha", alpha);
  visit("eps", eps);
  visit("momentum", momentum);
  visit("weight_decay", weight_decay);
  visit("centered", centered);
  visit("tf_variant", tf_variant);
}

void each_field(MaybeConst<Lamb> auto& rule, const auto& visit) {
  auto& [learning_rate, beta1, beta2, eps, weight_decay, max_weight_norm, bias_correction] = rule;
  visit("learning_rate", learning_rate);
  visit("beta1", beta1);
  visit("beta2", beta2);
  visit("eps", eps);
  visit("weight_decay", weight_decay);
  visit("max_weight_norm", max_weight_norm);
  visit("bias_correction", bias_correction);
}

void each_field(MaybeConst<ParameterGroup> auto& group, const auto& visit) {
  auto& [parameters, settings] = group;
  visit("parameters", parameters);
  visit("settings", settings);
}

void each_field(MaybeConst<LearningRateSchedule::Phase> auto& phase, const auto& visit) {
  auto& [kind, first, factor, updates, lasts] = phase;
  visit("kind", kind);
  visit("first", first);
  visit("factor", factor);
  visit("updates", updates);
  visit("lasts", lasts);
}

void each_field(MaybeConst<Optimizer> auto& optimizer, const auto& visit) {
  auto& [settings, groups, max_grad_norm, exact_max_grad_norm, loss_scaling, schedule, marked] =
      optimizer;
  visit("settings", settings);
  visit("groups", groups);
  visit("max_grad_norm", max_grad_norm);
  visit("exact_max_grad_norm", exact_max_grad_norm);
  visit("loss_scaling", loss_scaling);
  visit("schedule", schedule);
  visit("marked", marked);
}

/// A rule's settings, and its name before them.
template <class Settings>
struct NamedRule {
  std::string& name;
  Settings& settings;
};

template <class Settings>
void each_field(const NamedRule<Settings>& rule, const auto& visit) {
  visit("rule", rule.name);
  each_field(rule.settings, visit);
}

namespace {

std::string rule_name(const OptimizerSettings& settings) {
  return std::string(rule_of(settings).rule->name);
}

template <std::size_t... I>
std::vector<OptimizerSettings> default_rules(std::index_sequence<I...>) {
  return {std::variant_alternative_t<I, OptimizerSettings>()...};
}

/// The settings of another rule than before begin with that one's defaults.
void choose_rule(const std::string& path, const JsonValue& json, OptimizerSettings& settings) {
  const auto known =
      default_rules(std::make_index_sequence<std::variant_size_v<OptimizerSettings>>());
  for (const OptimizerSettings& rule : known) {
    if (json.kind != JsonValue::Kind::text || json.text != rule_name(rule)) continue;
    if (rule.index() != settings.index()) settings = rule;
    return;
  }
  refuse_json(path + ".rule", json, "one of " + joined(known, rule_name));
}

}  // namespace

JsonValue written(const OptimizerSettings& settings) {
  std::string name = rule_name(settings);
  return std::visit(
      [&]<class Settings>(const Settings& rule) {
        return written(NamedRule<const Settings>{name, rule});
      },
      settings);
}

void read_json(FieldReader& reader, const std::string& path, const JsonValue& json,
               OptimizerSettings& settings) {
  for (const JsonValue& item : json.items)
    if (json.kind == JsonValue::Kind::object && item.name == "rule")
      choose_rule(path, item, settings);
  std::string name = rule_name(settings);
  std::visit(
      [&]<class Settings>(Settings& rule) {
        NamedRule<Settings> named{name, rule};
        reader.read_fields(path, json, named);
      },
      settings);
  // Refusals name the rule instead: "adamw.beta1", "optimizer.groups[0].adamw.beta1".
  const std::string whose = path.substr(0, path.rfind("settings"));
  reader.add_alias(whose == "optimizer." ? name : whose + name, path);
}

JsonValue written(const LearningRateSchedule& schedule) {
  return written(schedule.phases());
}

void read_json(FieldReader& reader, const std::string& path, const JsonValue& json,
               LearningRateSchedule& schedule) {
  std::vector<LearningRateSchedule::Phase> phases;
  reader.read(path, json, phases);
  try {
    schedule = LearningRateSchedule::of(phases);
  } catch (const Error& error) {
    const std::string text = "optimizer." + std::string(error.what());
    throw Error(error.code(), printable(reader.line_of(text.substr(0, text.find(": "))) + text));
  }
}

std::string to_json(const Optimizer& optimizer) {
  return json_text(optimizer);
}

std::ostream& operator<<(std::ostream& stream, const Optimizer& optimizer) {
  return stream << to_json(optimizer);
}

Optimizer optimizer_from_json(const JsonValue& json, const Optimizer& base) {
  return read_checked("optimizer", json, base);
}

Optimizer optimizer_from_json(std::string_view json, const Optimizer& base) {
  return optimizer_from_json(parse_json(json), base);
}

}  // namespace penstock
