#include "engine/values/printable.hpp"

#include <algorithm>

namespace penstock {
namespace {

bool continues_a_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

}  // namespace

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && continues_a_character(text[limit])) --limit;
  return std::string(text.substr(0, limit)) + "...";
}

std::string quoted_name(std::string_view name) {
  constexpr std::size_t limit = 100;
  std::string text(name.substr(0, limit));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return "\"" + text + (name.size() > limit ? "...\"" : "\"");
}

std::string printable(std::string_view text) {
  std::string result = shortened(text);
  std::ranges::replace_if(result, is_control, '?');
  return result;
}

}  // namespace penstock
