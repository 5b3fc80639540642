// JsonValue: a JSON text as a tree that knows the line of each value, so that whoever reads
// settings from it can refuse them by line and name. The same under every locale. A plain value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// A JsonValue is a value of a JSON text, with everything inside it.
struct JsonValue {
  /// Says what a value is.
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };

  Kind kind = Kind::null;             ///< This says which of the other fields the value has.
  bool truth = false;                 ///< of a boolean
  std::string text = {};              ///< of a text; of a number its spelling, as "1e-3"
  std::string name = {};              ///< of a value in an object: its key
  int line = 0;                       ///< where it stands, counted from 1
  std::vector<JsonValue> items = {};  ///< of a list; of an object its values, in their order
};

/// @throws Error invalid_argument, as "line 3: ...", if `text` is no JSON, has a key twice in one
/// object, or is nested more than 32 deep.
JsonValue parse_json(std::string_view text);

/// Returns a text that parse_json reads as the same tree, lines apart, with a line for each value
/// that is in no list. @throws Error invalid_argument if a text or a name is not valid UTF-8.
std::string to_json(const JsonValue& value);

/// Returns what it is, for a message: `-1`, `"text"`, `true`, `null`, `a list`, `an object`.
std::string describe(const JsonValue& value);

}  // namespace penstock
