// Options as JSON: printed, written to a file, read back, or merged into others field by field.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "penstock/json_value.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// Every field by its name, a group as an object, an enumerator as its name; all but `runtime.log`
/// and `runtime.compile_progress`, which are functions. @throws Error invalid_argument if a block's
/// name is not valid UTF-8.
std::string to_json(const Options& options);
/// Prints to_json(). @throws as to_json().
std::ostream& operator<<(std::ostream& stream, const Options& options);

/// `base` with the fields that `json` names. What it does not name, in its groups too, stays as it
/// is; lists are replaced.
/// @throws Error invalid_argument if it is no JSON, names what is no field or names it twice, or if
/// a value has the wrong type or is outside its range: "line 3: options.topology.ipus[1]: expected
/// 0 to 65535, got -1".
Options options_from_json(std::string_view json, const Options& base = {});
/// The same of a part of a text, whose lines are counted from the text's first: one file may hold
/// options, an optimizer (optimizer_json.hpp) and a loader's options (data_loader_json.hpp).
Options options_from_json(const JsonValue& json, const Options& base = {});

}  // namespace penstock
