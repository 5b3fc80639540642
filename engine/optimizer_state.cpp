#include "engine/optimizer_state.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "engine/model/parameter_rules.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr const char* step_name = "step";
/// Whole numbers up to this one are exact in a double, in which schedules and corrections count
/// updates.
constexpr std::int64_t most_updates = std::int64_t{1} << 53;

std::string name_of(const graph::VariableInfo& variable, const graph::StateTensor& state) {
  return variable.name + "." + std::string(state.name);
}

[[noreturn]] void refuse(Errc code, const std::string& subject, const std::string& name,
                         const std::string& text) {
  throw Error(code, subject + ": tensor " + quoted_text(name) + ": " + text);
}

/// A TypeSupply has the names and types of tensors, each of which is to be taken once.
class TypeSupply {
 public:
  TypeSupply(std::span<const NamedType> named, const std::string& subject) : subject_(subject) {
    for (const auto& [name, type] : named)
      if (!types_.emplace(name, type).second) misfit(name, "it is there twice");
  }

  /// Takes the tensor `name`, and checks that it is there and has the type `type`. `states` are all
  /// state tensors that the rule keeps of the same parameter.
  void take(const std::string& name, const graph::TensorType& type,
            std::span<const graph::StateTensor> states = {}) {
    const std::string expected = "expected " + graph::to_string(type);
    const auto found = types_.extract(name);
    if (!found) misfit(name, expected + ", found none" + besides(name, states));
    if (found.mapped() != type)
      misfit(name, expected + ", got " + graph::to_string(found.mapped()));
  }

  void expect_empty() const {
    if (!types_.empty()) misfit(types_.begin()->first, "is no state of this model's optimizer");
  }

 private:
  [[noreturn]] void misfit(const std::string& name, const std::string& text) const {
    refuse(Errc::shape_mismatch, subject_, name, text);
  }

  /// Returns the end of a refusal, for a state tensor `name` that is missing: which other tensor of
  /// the same parameter is there, such as that of another variant of the rule.
  std::string besides(const std::string& name, std::span<const graph::StateTensor> states) const {
    const std::string parameter = name.substr(0, name.rfind('.') + 1);
    if (parameter.empty()) return {};
    for (auto other = types_.lower_bound(parameter);
         other != types_.end() && other->first.starts_with(parameter); ++other) {
      const std::string_view state = std::string_view(other->first).substr(parameter.size());
      const bool of_another_parameter = state.find('.') != state.npos;
      const bool is_expected =
          std::ranges::find(states, state, &graph::StateTensor::name) != states.end();
      if (!of_another_parameter && !is_expected) return ", but " + quoted_text(other->first);
    }
    return {};
  }

  std::string subject_;
  std::map<std::string, graph::TensorType> types_;
};

std::int64_t checked_step(const Tensor& tensor, const std::string& subject) {
  const std::int64_t step = tensor.as<std::int64_t>()[0];
  if (step < 0 || step > most_updates)
    refuse(Errc::invalid_data, subject, step_name,
           "expected 0 to " + std::to_string(most_updates) + ", got " + std::to_string(step));
  return step;
}

void check_numbers(const Tensor& tensor, const graph::StateTensor& state, const std::string& name,
                   const std::string& subject, StateNumbers allowed) {
  const bool finite = allowed == StateNumbers::finite;
  const auto numbers = tensor.as<float>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool is_negative = state.never_negative && numbers[i] < 0;
    if (!is_negative && (!finite || std::isfinite(numbers[i]))) continue;
    refuse(Errc::invalid_data, subject, name,
           std::string(finite ? "expected finite numbers" : "expected numbers") +
               (state.never_negative ? " of 0 or more" : "") + ", got " + number_text(numbers[i]) +
               " as element " + std::to_string(i));
  }
}

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

void expect_state_types(const graph::Plan& plan, const actors::UpdateRules& rules,
                        std::span<const NamedType> named, const std::string& subject) {
  TypeSupply supply(named, subject);
  supply.take(step_name, {DType::i64, {}});
  for (std::size_t i = 0; i < plan.variables.size(); ++i) {
    const graph::VariableInfo& variable = plan.variables[i];
    if (!variable.trainable) continue;
    const auto states = state_of(rules.variables[i]);
    for (const graph::StateTensor& state : states)
      supply.take(name_of(variable, state), variable.type, states);
  }
  supply.expect_empty();
}

actors::OptimizerTensors tensors_of(const graph::Plan& plan, const actors::UpdateRules& rules,
                                    std::span<const NamedTensor> named, const std::string& subject,
                                    StateNumbers numbers) {
  std::vector<NamedType> types;
  std::map<std::string_view, const Tensor*> tensors;
  for (const auto& [name, tensor] : named) {
    if (tensor) types.push_back({name, {tensor.dtype(), tensor.shape()}});
    tensors.emplace(name, &tensor);
  }
  expect_state_types(plan, rules, types, subject);

  actors::OptimizerTensors result;
  result.updates = checked_step(*tensors.at(step_name), subject);
  for (std::size_t i = 0; i < plan.variables.size(); ++i) {
    const graph::VariableInfo& variable = plan.variables[i];
    auto& state_tensors = result.variables.emplace_back();
    if (!variable.trainable) continue;
    for (const graph::StateTensor& state : state_of(rules.variables[i])) {
      const std::string name = name_of(variable, state);
      state_tensors.push_back(*tensors.at(name));
      check_numbers(state_tensors.back(), state, name, subject, numbers);
    }
  }
  return result;
}

}  // namespace penstock
