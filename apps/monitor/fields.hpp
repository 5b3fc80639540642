// These functions read the fields of a JSON object that a process has sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/json_value.hpp"

namespace monitor {

/// Returns the field `name` of `object`. @throws penstock::Error invalid_argument if there is none.
const penstock::JsonValue& field(const penstock::JsonValue& object, const std::string& name);

/// Each of the functions from whole_number() to texts() returns the value of the field `name`.
/// Texts come without control characters, as terminal_text() makes them, so that they cannot steer
/// the terminal that shows them.
/// @throws penstock::Error invalid_argument if there is no such field, or if its value is of
/// another kind.
std::int64_t whole_number(const penstock::JsonValue& object, const std::string& name);
std::string text(const penstock::JsonValue& object, const std::string& name);
bool truth(const penstock::JsonValue& object, const std::string& name);
const std::vector<penstock::JsonValue>& list(const penstock::JsonValue& object,
                                             const std::string& name);
std::vector<std::string> texts(const penstock::JsonValue& object, const std::string& name);
/// number() and optional_whole_number() return nothing if the value of the field is null.
std::optional<double> number(const penstock::JsonValue& object, const std::string& name);
std::optional<std::int64_t> optional_whole_number(const penstock::JsonValue& object,
                                                  const std::string& name);

/// Returns the whole number that `value` is.
/// @throws penstock::Error invalid_argument if `value` is no whole number.
std::int64_t whole_number(const penstock::JsonValue& value);

}  // namespace monitor
