// Optimizer as JSON: printed, written to a file, read back, or merged into another field by field.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "penstock/json_value.hpp"
#include "penstock/optimizer.hpp"

namespace penstock {

/// Every field by its name. The settings are an object whose "rule" is sgd, adam, adamw, rmsprop or
/// lamb; a schedule is the list of its phases; no max_weight_norm is null.
/// @throws Error invalid_argument if a parameter's name is not valid UTF-8.
std::string to_json(const Optimizer& optimizer);
/// Prints to_json(). @throws as to_json().
std::ostream& operator<<(std::ostream& stream, const Optimizer& optimizer);

/// `base` with the fields that `json` names. What it does not name, in the settings too, stays as
/// it is, unless the settings' rule changes: then it is that rule's default. Groups, schedules and
/// marks are replaced; a group names its rule.
/// @throws Error invalid_argument if it is no JSON, names what is no field or names it twice, or if
/// a value has the wrong type or is outside its range: "line 3: adamw.beta1: expected 0 or more and
/// below 1, got 1".
Optimizer optimizer_from_json(std::string_view json, const Optimizer& base = {});
/// The same of a part of a text, whose lines are counted from the text's first.
Optimizer optimizer_from_json(const JsonValue& json, const Optimizer& base = {});

}  // namespace penstock
