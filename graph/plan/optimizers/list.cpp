// Every optimizer rule, once. To add one: write its file pair, include it here, add it to the list.
#include <array>
#include <string>

#include "graph/plan/optimizers/adam.hpp"
#include "graph/plan/optimizers/lamb.hpp"
#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "graph/plan/optimizers/rmsprop.hpp"
#include "graph/plan/optimizers/sgd.hpp"
#include "graph/values/joined.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

constexpr std::array rules{&adam, &adamw, &lamb, &rmsprop, &sgd};

}  // namespace

std::span<const OptimizerRule* const> all_optimizer_rules() {
  return rules;
}

const OptimizerRule& find_optimizer_rule(std::string_view name) {
  for (const OptimizerRule* rule : rules)
    if (rule->name == name) return *rule;
  throw Error(Errc::invalid_argument, "there is no optimizer named \"" + std::string(name) +
                                          "\"; there are " + joined(rules, &OptimizerRule::name));
}

}  // namespace penstock::graph
