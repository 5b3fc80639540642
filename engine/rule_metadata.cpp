#include "engine/rule_metadata.hpp"

#include <algorithm>
#include <vector>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr const char* rule_key = "optimizer";

/// A TrainedRule is a trained parameter with the name of the rule that it follows.
struct TrainedRule {
  std::string parameter;
  std::string_view rule;
};

std::vector<TrainedRule> trained_rules(const graph::Plan& plan, const actors::UpdateRules& rules) {
  std::vector<TrainedRule> trained;
  for (std::size_t i = 0; i < plan.variables.size(); ++i)
    if (plan.variables[i].trainable)
      trained.push_back({plan.variables[i].name, rules.variables[i].rule->name});
  return trained;
}

bool same_rule(const std::vector<TrainedRule>& trained) {
  return std::ranges::all_of(
      trained, [&](const TrainedRule& one) { return one.rule == trained.front().rule; });
}

std::string key_of(const std::string& parameter) {
  return std::string(rule_key) + "." + parameter;
}

}  // namespace

std::map<std::string, std::string> rule_metadata(const graph::Plan& plan,
                                                 const actors::UpdateRules& rules,
                                                 std::string_view main) {
  std::map<std::string, std::string> metadata{{rule_key, std::string(main)}};
  for (const auto& [parameter, rule] : trained_rules(plan, rules))
    if (rule != main) metadata[key_of(parameter)] = rule;
  return metadata;
}

void expect_rules(const std::map<std::string, std::string>& metadata, const graph::Plan& plan,
                  const actors::UpdateRules& rules, const std::string& subject) {
  const std::vector<TrainedRule> trained = trained_rules(plan, rules);
  const auto main = metadata.find(rule_key);
  const bool one_rule = metadata.size() < 2 && same_rule(trained);
  for (const auto& [parameter, rule] : trained) {
    const auto special = metadata.find(key_of(parameter));
    const auto& found = special == metadata.end() ? main : special;
    if (found != metadata.end() && found->second == rule) continue;
    throw Error(
        Errc::invalid_data,
        subject + ": expected the state of " + std::string(rule) +
            (one_rule ? "" : " for parameter " + quoted_text(parameter)) + ", got " +
            (found == metadata.end() ? "a file of no optimizer"
                                     : "that of " + printable(shortened(found->second, 100))));
  }
}

}  // namespace penstock
