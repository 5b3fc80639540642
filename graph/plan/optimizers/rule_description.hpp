// The source of a rule describes the rule with the templates in this header: a Description of the
// rule's settings, which lists the constants by constant<&Settings::field>(name), and an
// instantiation of described_rule().
#pragma once

#include <stdexcept>
#include <string_view>

#include "graph/plan/optimizers/optimizer_rule.hpp"

namespace penstock::graph {

template <class Settings>
struct Description;  // A specialization has `static constexpr OptimizerRule rule`.

template <class Settings>
const OptimizerRule& described_rule() {
  return Description<Settings>::rule;
}

template <class Settings, class Value>
Settings settings_with(Value Settings::*field);

/// Returns the constant called `name` for the rule whose settings keep the constant in `field`. A
/// call does not compile if `all_constants` has no constant of that name.
template <auto field>
consteval RuleConstant constant(std::string_view name) {
  using Settings = decltype(settings_with(field));
  for (const Constant& known : all_constants)
    if (name == known.name)
      return {.constant = &known, .field = [](OptimizerSettings& settings) -> SettingsField {
                return &(std::get<Settings>(settings).*field);
              }};
  throw std::logic_error("no constant has this name");
}

}  // namespace penstock::graph
