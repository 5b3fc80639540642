// count_text: numbers of things in messages.
#pragma once

#include <cstdint>
#include <string>

namespace penstock {

/// As in "1 sample" and "2 samples".
inline std::string count_text(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace penstock
