#include "apps/trainer/options/excerpt.hpp"

#include <algorithm>

namespace trainer {
namespace {

bool continues_a_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t most) {
  const bool is_cut = text.size() > most;
  while (is_cut && most > 0 && continues_a_character(text[most])) --most;
  std::string result = std::string(text.substr(0, most)) + (is_cut ? "..." : "");
  std::ranges::replace_if(result, is_control, '?');
  return result;
}

}  // namespace trainer
