// A JsonValue is a JSON text as a tree that knows the line of each value, so that code which reads
// settings from it can name line and field in its errors. It is a plain value, and the functions
// work the same under every locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/standard.hpp"

namespace penstock {

/// A JsonValue is a value of a JSON text, with everything inside it.
struct JsonValue {
  /// A Kind is the kind of a value.
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };

  Kind kind = Kind::null;  ///< `kind` decides which of the other fields are used.
  bool truth = false;      ///< `truth` is the value of a boolean.
  /// `text` is the content of a text, or the spelling of a number, such as "1e-3".
  std::string text = {};
  std::string name = {};  ///< `name` is the key of a value that is in an object.
  int line = 0;           ///< `line` is the line on which the value begins, counted from 1.
  /// `items` has the items of a list, or the values of an object in their order.
  std::vector<JsonValue> items = {};
};

/// Parses `text`. @throws Error invalid_argument, such as "line 3: ...", if `text` is not valid
/// JSON, has a key twice in one object, or is nested more than 32 deep.
JsonValue parse_json(std::string_view text);

/// Returns a text that parse_json() reads as the same tree, apart from the line numbers. Every
/// value that is not in a list has a line of its own. @throws Error invalid_argument if a text or a
/// name is not valid UTF-8.
std::string to_json(const JsonValue& value);

/// Returns a description of `value` for a message: `-1`, `"text"`, `true`, `null`, `a list`, `an
/// object`.
std::string describe(const JsonValue& value);

}  // namespace penstock
