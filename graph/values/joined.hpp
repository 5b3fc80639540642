// joined() writes a list as text.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace penstock {

/// Returns the texts `of(item)` of all items, separated by `between`, such as "a, b".
template <class Items, class Of = std::identity>
std::string joined(const Items& items, const Of& of = {}, std::string_view between = ", ") {
  std::string text;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) text += between;
    text += std::invoke(of, item);
    is_first = false;
  }
  return text;
}

}  // namespace penstock
