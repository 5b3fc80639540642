#include "engine/optimizer_state.hpp"

#include <map>
#include <utility>

#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr const char* step_name = "step";

std::string name_of(const graph::VariableInfo& variable, const graph::StateTensor& state) {
  return variable.name + "." + std::string(state.name);
}

std::vector<graph::StateTensor> state_of(const graph::ParameterRule& rule) {
  return rule.rule ? rule.rule->state(rule.hyper) : std::vector<graph::StateTensor>{};
}

/// Named tensors, each to be taken once.
class Supply {
 public:
  Supply(std::span<const NamedTensor> named, const std::string& who) : who_(who) {
    for (const auto& [name, tensor] : named)
      if (!tensors_.emplace(name, tensor).second) refuse(name, "it is there twice");
  }

  Tensor take(const std::string& name, const graph::TensorType& type) {
    const std::string expected = "expected " + graph::to_string(type);
    auto found = tensors_.extract(name);
    if (!found || !found.mapped()) refuse(name, expected + ", found none");
    const graph::TensorType got{found.mapped().dtype(), found.mapped().shape()};
    if (got != type) refuse(name, expected + ", got " + graph::to_string(got));
    return std::move(found.mapped());
  }

  void expect_empty() const {
    if (!tensors_.empty()) refuse(tensors_.begin()->first, "is no state of this model's optimizer");
  }

 private:
  [[noreturn]] void refuse(const std::string& name, const std::string& text) const {
    throw Error(Errc::shape_mismatch, who_ + ": tensor \"" + name + "\": " + text);
  }

  std::string who_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace

std::vector<NamedTensor> named_state(const graph::Plan& plan, const actors::UpdateRules& rules,
                                     const actors::OptimizerTensors& tensors) {
  std::vector<NamedTensor> named{{step_name, Tensor({}, std::span(&tensors.updates, 1))}};
  for (std::size_t i = 0; i < plan.variables.size(); ++i) {
    const auto states = state_of(rules.variables[i]);
    for (std::size_t s = 0; s < tensors.variables[i].size(); ++s)
      named.push_back({name_of(plan.variables[i], states[s]), tensors.variables[i][s]});
  }
  return named;
}

actors::OptimizerTensors tensors_of(const graph::Plan& plan, const actors::UpdateRules& rules,
                                    std::span<const NamedTensor> named, const std::string& who) {
  Supply supply(named, who);
  actors::OptimizerTensors result;
  result.updates = supply.take(step_name, {DType::i64, {}}).as<std::int64_t>()[0];
  if (result.updates < 0)
    throw Error(Errc::invalid_data, who + ": tensor \"step\": expected 0 or more, got " +
                                        std::to_string(result.updates));
  for (std::size_t i = 0; i < plan.variables.size(); ++i) {
    const graph::VariableInfo& variable = plan.variables[i];
    auto& own = result.variables.emplace_back();
    if (!variable.trainable) continue;
    for (const graph::StateTensor& state : state_of(rules.variables[i]))
      own.push_back(supply.take(name_of(variable, state), variable.type));
  }
  supply.expect_empty();
  return result;
}

}  // namespace penstock
