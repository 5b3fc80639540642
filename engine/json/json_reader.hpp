// read_json_text() reads JSON (RFC 8259) piece by piece, in time and memory in proportion to the
// text, whatever the process's locale is. It is pure, and the text may be damaged or hostile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "penstock/error.hpp"

namespace penstock {

/// JsonEvents receive the pieces of a JSON text: read_json_text() calls a function of this class
/// for each piece, in the order of the pieces. `at` is the position of a piece's first byte. An
/// exception that a function throws ends the reading.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void begin_object(std::size_t at) = 0;
  virtual void end_object() = 0;
  virtual void begin_list(std::size_t at) = 0;
  virtual void end_list() = 0;
  /// Receives the key `name` of the value that comes next.
  virtual void key(std::string&& name, std::size_t at) = 0;
  virtual void text(std::string&& value, std::size_t at) = 0;
  /// Receives a number, spelled as in the text.
  virtual void number(std::string_view spelling, std::size_t at) = 0;
  virtual void boolean(bool truth, std::size_t at) = 0;
  virtual void null(std::size_t at) = 0;
  /// Returns the error to throw if the text is no JSON. `at` is the position of the first byte that
  /// does not fit, which may be the text's end.
  virtual Error failure(std::size_t at, const char* reason) = 0;
};

/// Reads one value, with white space around it and nothing else. A byte order mark at the beginning
/// is passed over. Each level of nesting costs a byte of memory, and no stack.
void read_json_text(std::string_view text, JsonEvents& events);

}  // namespace penstock
