#include "penstock/optimizer_json.hpp"

#include <ostream>
#include <span>

#include "engine/model/parameter_rules.hpp"
#include "engine/settings/json_fields.hpp"
#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "graph/values/text.hpp"

namespace penstock {

// Each structured binding in this file names all fields of a struct, so that a field that is added
// to the struct does not compile until the binding names it.

void each_field(MaybeConst<ParameterGroup> auto& group, const auto& visit) {
  auto& [parameters, settings] = group;
  visit("parameters", parameters);
  visit("settings", settings);
}

void each_field(MaybeConst<LearningRateSchedule::Segment> auto& segment, const auto& visit) {
  auto& [kind, first, factor, updates, lasts] = segment;
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

/// A NamedRule stands for a JSON object that has the name of a rule and, behind it, the rule's
/// settings.
struct NamedRule {
  std::string& name;
  OptimizerSettings& settings;
};

void each_field(const NamedRule& rule, const auto& visit) {
  visit("rule", rule.name);
  for (const graph::RuleConstant& entry : rule_of(rule.settings).rule->constants)
    std::visit([&](auto* value) { visit(entry.constant->name, *value); },
               entry.field(rule.settings));
}

namespace {

std::string rule_name(const OptimizerSettings& settings) {
  return std::string(rule_of(settings).rule->name);
}

/// Gives `settings` the defaults of the rule that `json` names, unless they are settings of that
/// rule already.
void choose_rule(const std::string& path, const JsonValue& json, OptimizerSettings& settings) {
  const std::span<const OptimizerSettings> known = graph::default_settings();
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
  OptimizerSettings values = settings;
  return written(NamedRule{name, values});
}

void read_json(FieldReader& reader, const std::string& path, const JsonValue& json,
               OptimizerSettings& settings) {
  for (const JsonValue& item : json.items)
    if (json.kind == JsonValue::Kind::object && item.name == "rule")
      choose_rule(path, item, settings);
  std::string name = rule_name(settings);
  NamedRule named{name, settings};
  reader.read_fields(path, json, named);
  // Errors of validate() name the rule instead of "settings", as in "adamw.beta1" or
  // "optimizer.groups[0].adamw.beta1".
  const std::string owner = path.substr(0, path.rfind("settings"));
  reader.add_alias(owner == "optimizer." ? name : owner + name, path);
}

JsonValue written(const LearningRateSchedule& schedule) {
  return written(schedule.segments());
}

void read_json(FieldReader& reader, const std::string& path, const JsonValue& json,
               LearningRateSchedule& schedule) {
  std::vector<LearningRateSchedule::Segment> segments;
  reader.read(path, json, segments);
  try {
    schedule = LearningRateSchedule::of(segments);
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
