// shortest_text() writes a number in the same way under every locale. The function is pure.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace trainer {

/// Returns the shortest text that reads as exactly `number`, such as "0.1307".
inline std::string shortest_text(double number) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace trainer
