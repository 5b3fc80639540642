#include "penstock/optimizer.hpp"

#include <set>

#include "engine/model/parameter_rules.hpp"
#include "engine/model/variable_attributes.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(Errc::invalid_argument, text);
}

void validate(const OptimizerSettings& settings) {
  const graph::ParameterRule rule = rule_of(settings);
  graph::validate(*rule.rule, rule.hyper);
}

void validate_group(const std::string& field, const ParameterGroup& group) {
  if (group.parameters.empty()) refuse(field + ": expected at least one parameter, got none");
  try {
    validate(group.settings);
  } catch (const Error& error) {
    refuse(field + '.' + error.what());
  }
}

void set_mark(Optimizer& optimizer, const std::string& attribute, bool is_variable) {
  or_out_of_memory("marking an attribute of an optimizer", [&] {
    expect_attribute(optimizer, attribute);
    optimizer.marked[attribute] = is_variable;
  });
}

}  // namespace

Optimizer& Optimizer::mark_as_variable(const std::string& attribute) {
  set_mark(*this, attribute, true);
  return *this;
}

Optimizer& Optimizer::mark_as_constant(const std::string& attribute) {
  set_mark(*this, attribute, false);
  return *this;
}

bool Optimizer::is_variable(std::string_view attribute) const {
  return on_hosts_thread("Optimizer::is_variable", [&] {
    expect_attribute(*this, attribute);
    const auto mark = marked.find(std::string(attribute));
    return mark != marked.end() ? mark->second : was_given(*this, attribute);
  });
}

void Optimizer::set_learning_rate(double learning_rate) {
  const auto set = [&](auto& rule) { rule.learning_rate = learning_rate; };
  std::visit(set, settings);
  for (ParameterGroup& group : groups) std::visit(set, group.settings);
}

double Optimizer::learning_rate() const {
  return std::visit([](const auto& rule) { return rule.learning_rate; }, settings);
}

void Optimizer::validate() const {
  on_hosts_thread("Optimizer::validate", [&] {
    penstock::validate(settings);
    check_f32("optimizer.max_grad_norm", max_grad_norm, {.above_low = max_grad_norm > 0});
    check_f32("optimizer.loss_scaling", loss_scaling, {.above_low = true});
    for (const auto& [attribute, variable] : marked) expect_attribute(*this, attribute);
    std::set<std::string> named;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::string field = "optimizer.groups[" + std::to_string(i) + "]";
      validate_group(field, groups[i]);
      for (const std::string& name : groups[i].parameters)
        if (!named.insert(name).second)
          refuse(field + ": the parameter " + quoted_text(name) + " is in a group already");
    }
  });
}

}  // namespace penstock
