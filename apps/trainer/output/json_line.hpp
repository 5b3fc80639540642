// A JsonLine writes one JSON value on one line, piece by piece. A number is written so that it
// reads back as the same number; NaN and infinity, which JSON does not have, become null.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainer {

class JsonLine {
 public:
  JsonLine& begin_object() { return open('{'); }
  JsonLine& end_object() { return close('}'); }
  JsonLine& begin_array() { return open('['); }
  JsonLine& end_array() { return close(']'); }

  /// Writes the name of the next value. `name` must have no characters that JSON escapes.
  JsonLine& key(std::string_view name);
  JsonLine& value(double number);
  JsonLine& value(std::integral auto number) { return item(std::to_string(number)); }

  template <class T>
  JsonLine& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  const std::string& text() const noexcept { return text_; }

 private:
  JsonLine& open(char bracket);
  JsonLine& close(char bracket);
  JsonLine& item(std::string_view text);
  void separate();

  std::string text_;
  /// `first_` says whether the next value is the first value of its object or array, or comes right
  /// after its key.
  bool first_ = true;
};

}  // namespace trainer
