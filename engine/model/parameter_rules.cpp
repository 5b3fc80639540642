#include "engine/model/parameter_rules.hpp"

#include <functional>
#include <string_view>
#include <unordered_map>

#include "engine/names/known_names.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
std::vector<graph::ParameterRule> parameter_rules(const Optimizer& optimizer,
                                                  std::span<const std::string> parameters) {
  optimizer.validate();
  std::vector<graph::ParameterRule> rules(parameters.size(), rule_of(optimizer.settings));
  std::unordered_map<std::string_view, std::size_t> position;
  for (std::size_t i = 0; i < parameters.size(); ++i) position.emplace(parameters[i], i);
  for (std::size_t group = 0; group < optimizer.groups.size(); ++group)
    for (const std::string& name : optimizer.groups[group].parameters) {
      const auto at = position.find(name);
      if (at == position.end())
        throw Error(Errc::invalid_argument, "optimizer.groups[" + std::to_string(group) +
                                                "]: there is no trainable parameter " +
                                                quoted_text(name) +
                                                instead_of(name, parameters, std::identity()));
      rules[at->second] = rule_of(optimizer.groups[group].settings);
    }
  return rules;
}

std::vector<graph::StateTensor> state_of(const graph::ParameterRule& rule) {
  return rule.rule ? rule.rule->state(rule.hyper) : std::vector<graph::StateTensor>{};
}

}  // namespace penstock
