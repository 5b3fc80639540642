// count_text() writes numbers of things for messages.
#pragma once

#include <cstdint>
#include <string>

namespace penstock {

/// Returns a text such as "1 sample" or "2 samples".
inline std::string count_text(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace penstock
