#include "graph/values/hexadecimal.hpp"

#include <array>
#include <charconv>

namespace penstock {

std::string hexadecimal(std::uint64_t number, std::size_t digits) {
  std::array<char, 16> written{};
  const auto end = std::to_chars(written.data(), written.data() + written.size(), number, 16).ptr;
  const std::string text(written.data(), end);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

}  // namespace penstock
