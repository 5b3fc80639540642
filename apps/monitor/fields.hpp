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

/// Each of these returns the value of the field `name`.
/// @throws penstock::Error invalid_argument if it is of another kind.
std::int64_t whole_number(const penstock::JsonValue& object, const std::string& name);
std::string text(const penstock::JsonValue& object, const std::string& name);
bool truth(const penstock::JsonValue& object, const std::string& name);
const std::vector<penstock::JsonValue>& list(const penstock::JsonValue& object,
                                             const std::string& name);
std::vector<std::string> texts(const penstock::JsonValue& object, const std::string& name);
/// These take null for nothing.
std::optional<double> number(const penstock::JsonValue& object, const std::string& name);
std::optional<std::int64_t> optional_whole_number(const penstock::JsonValue& object,
                                                  const std::string& name);

/// Returns the number that a JSON value is. @throws penstock::Error invalid_argument
std::int64_t whole_number(const penstock::JsonValue& value);

}  // namespace monitor
