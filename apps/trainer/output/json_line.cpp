#include "apps/trainer/output/json_line.hpp"

#include <charconv>
#include <cmath>

namespace trainer {

JsonLine& JsonLine::key(std::string_view name) {
  separate();
  text_.append(1, '"').append(name).append("\":");
  first_ = true;
  return *this;
}

JsonLine& JsonLine::value(double number) {
  if (!std::isfinite(number)) return item("null");
  char text[32];
  const char* end = std::to_chars(std::begin(text), std::end(text), number).ptr;
  return item({text, static_cast<std::size_t>(end - text)});
}

JsonLine& JsonLine::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

JsonLine& JsonLine::close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonLine& JsonLine::item(std::string_view text) {
  separate();
  text_ += text;
  first_ = false;
  return *this;
}

void JsonLine::separate() {
  if (!first_) text_ += ',';
}

}  // namespace trainer
