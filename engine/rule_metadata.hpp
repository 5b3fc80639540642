// These pure functions write down in the metadata of a file which rules the state of an optimizer
// belongs to, and check what a file says about that. States of different rules may have the same
// names and shapes.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "actors/update/weight_update.hpp"

namespace penstock {

/// Returns "optimizer", the name of the rule `main`, which parameters in no group follow, and for
/// each trained parameter that follows another rule "optimizer.PARAMETER", the name of that rule.
std::map<std::string, std::string> rule_metadata(const graph::Plan& plan,
                                                 const actors::UpdateRules& rules,
                                                 std::string_view main);

/// Checks that the state of a file with this metadata belongs to the rules of all trained
/// parameters. @throws Error invalid_data, whose text begins with `subject`, if it does not.
void expect_rules(const std::map<std::string, std::string>& metadata, const graph::Plan& plan,
                  const actors::UpdateRules& rules, const std::string& subject);

}  // namespace penstock
