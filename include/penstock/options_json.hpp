// These functions print Options as JSON, and read them from JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "penstock/json_value.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// Returns a JSON object with every field by its name, except `runtime.log` and
/// `runtime.compile_progress`, which are functions. A struct inside Options becomes an object, and
/// an enumerator becomes its name. @throws Error invalid_argument if the name of a block is not
/// valid UTF-8.
std::string to_json(const Options& options);
/// Prints `options` as to_json() does. @throws Error as to_json().
std::ostream& operator<<(std::ostream& stream, const Options& options);

/// Returns `base` with those fields replaced that `json` names. In a group that `json` names, the
/// fields that it does not name keep their values. Lists are replaced as a whole.
/// @throws Error invalid_argument if `json` is not valid JSON, if it names an unknown field or a
/// field twice, or if a value has the wrong type or is out of range, with a text such as "line 3:
/// options.topology.ipus[1]: expected 0 to 65535, got -1".
Options options_from_json(std::string_view json, const Options& base = {});
/// Returns what options_from_json() of a text returns, for a part of a text that parse_json() has
/// parsed. Error messages count the lines from the beginning of the whole text, so that one file
/// may hold options, an optimizer (optimizer_json.hpp) and the options of a loader
/// (data_loader_json.hpp).
Options options_from_json(const JsonValue& json, const Options& base = {});

}  // namespace penstock
