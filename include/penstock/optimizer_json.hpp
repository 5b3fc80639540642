// These functions print an Optimizer as JSON, and read one from JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "penstock/json_value.hpp"
#include "penstock/optimizer.hpp"

namespace penstock {

/// Returns an object with every field by its name. Settings are an object whose "rule" is the name
/// of the rule; a schedule is the list of its segments; a max_weight_norm that is not set is null.
/// @throws Error invalid_argument if a parameter's name is not valid UTF-8.
std::string to_json(const Optimizer& optimizer);
/// Prints `optimizer` as to_json() does. @throws Error as to_json().
std::ostream& operator<<(std::ostream& stream, const Optimizer& optimizer);

/// Returns `base` with those fields replaced that `json` names. Settings that `json` does not name
/// keep their values. If `json` names another rule than that of `base`, these settings get the
/// rule's defaults. Groups, schedules and marks are replaced as a whole, and each group has to name
/// its rule.
/// @throws Error invalid_argument if `json` is not valid JSON, if it names an unknown field or a
/// field twice, or if a value has the wrong type or is out of range, with a text such as "line 3:
/// adamw.beta1: expected 0 or more and below 1, got 1".
Optimizer optimizer_from_json(std::string_view json, const Optimizer& base = {});
/// Returns what optimizer_from_json() of a text returns, for a part of a text that parse_json() has
/// parsed. Error messages count the lines from the beginning of the whole text.
Optimizer optimizer_from_json(const JsonValue& json, const Optimizer& base = {});

}  // namespace penstock
