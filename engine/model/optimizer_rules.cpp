#include "engine/model/optimizer_rules.hpp"

#include <string_view>
#include <unordered_map>

#include "graph/plan/optimizers/adam.hpp"
#include "graph/plan/optimizers/lamb.hpp"
#include "graph/plan/optimizers/rmsprop.hpp"
#include "graph/plan/optimizers/sgd.hpp"
#include "graph/values/printable.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// What Adam, AdamW and LAMB share.
graph::Hyper moments_hyper(const auto& s) {
  graph::Hyper hyper;
  hyper.learning_rate = s.learning_rate;
  hyper.beta1 = s.beta1;
  hyper.beta2 = s.beta2;
  hyper.eps = s.eps;
  hyper.weight_decay = s.weight_decay;
  hyper.bias_correction = s.bias_correction;
  return hyper;
}

graph::ParameterRule convert(const Sgd& s) {
  graph::Hyper hyper;
  hyper.learning_rate = s.learning_rate;
  hyper.momentum = s.momentum;
  hyper.dampening = s.dampening;
  hyper.weight_decay = s.weight_decay;
  hyper.nesterov = s.nesterov;
  hyper.dampen_first_step = s.dampen_first_step;
  hyper.keras_variant = s.keras_variant;
  return {&graph::sgd, hyper};
}

graph::ParameterRule convert(const Adam& s) {
  return {&graph::adam, moments_hyper(s)};
}

graph::ParameterRule convert(const AdamW& s) {
  return {&graph::adamw, moments_hyper(s)};
}

graph::ParameterRule convert(const RmsProp& s) {
  graph::Hyper hyper;
  hyper.learning_rate = s.learning_rate;
  hyper.alpha = s.alpha;
  hyper.eps = s.eps;
  hyper.momentum = s.momentum;
  hyper.weight_decay = s.weight_decay;
  hyper.centered = s.centered;
  hyper.tf_variant = s.tf_variant;
  return {&graph::rmsprop, hyper};
}

graph::ParameterRule convert(const Lamb& s) {
  graph::ParameterRule result{&graph::lamb, moments_hyper(s)};
  result.hyper.max_weight_norm = s.max_weight_norm.value_or(result.hyper.max_weight_norm);
  return result;
}

}  // namespace

graph::ParameterRule rule_of(const OptimizerSettings& settings) {
  return std::visit([](const auto& rule) { return convert(rule); }, settings);
}

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
                                                quoted_text(name));
      rules[at->second] = rule_of(optimizer.groups[group].settings);
    }
  return rules;
}

std::vector<graph::StateTensor> state_of(const graph::ParameterRule& rule) {
  return rule.rule ? rule.rule->state(rule.hyper) : std::vector<graph::StateTensor>{};
}

}  // namespace penstock
