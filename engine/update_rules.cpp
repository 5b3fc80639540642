#include "engine/update_rules.hpp"

#include <limits>
#include <string_view>
#include <unordered_map>

#include "engine/model/parameter_rules.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

// Checks the loss scaling. A gradient is multiplied by 1 / (loss scaling x `gradient_parts`), which
// must not be a denormal of f32, because the engine takes denormals for 0.
void expect_scale_in_f32(const Optimizer& optimizer, double gradient_parts) {
  const double most = 1 / static_cast<double>(std::numeric_limits<float>::min()) / gradient_parts;
  if (optimizer.loss_scaling <= most) return;
  const std::string mean = gradient_parts == 1 ? ""
                                               : ", as the gradient is a mean of " +
                                                     number_text(gradient_parts) + " as well";
  throw Error(Errc::invalid_argument, "optimizer.loss_scaling: expected at most " +
                                          number_text(most) + mean + ", got " +
                                          number_text(optimizer.loss_scaling));
}

}  // namespace

actors::UpdateRules update_rules(const Optimizer& optimizer, const graph::Plan& plan,
                                 const std::vector<std::string>& trainable, double gradient_parts) {
  const std::vector<graph::ParameterRule> rules = parameter_rules(optimizer, trainable);
  expect_scale_in_f32(optimizer, gradient_parts);

  actors::UpdateRules result{
      .variables = {},
      .max_grad_norm = optimizer.max_grad_norm,
      .exact_max_grad_norm = optimizer.exact_max_grad_norm,
      .loss_scaling = optimizer.loss_scaling,
      .schedule = optimizer.schedule};
  std::unordered_map<std::string_view, const graph::ParameterRule*> rule_of;
  for (std::size_t i = 0; i < trainable.size(); ++i) rule_of.emplace(trainable[i], &rules[i]);
  for (const graph::VariableInfo& variable : plan.variables) {
    const auto found = rule_of.find(variable.name);
    result.variables.push_back(found == rule_of.end() ? graph::ParameterRule() : *found->second);
  }
  return result;
}

void expect_same_state(const graph::Plan& plan, const actors::UpdateRules& now,
                       const actors::UpdateRules& next) {
  for (std::size_t i = 0; i < next.variables.size(); ++i)
    if (state_of(next.variables[i]) != state_of(now.variables[i]))
      throw Error(Errc::invalid_argument,
                  "optimizer: parameter " + quoted_text(plan.variables[i].name) +
                      " would need other state than it has; make a new TrainingModel to change "
                      "which state is kept (momentum, centered, ...)");
}

}  // namespace penstock
