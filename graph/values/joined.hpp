// joined(): a list as text.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace penstock {

/// `of(item)` of each item, with `between` from the second on: "a, b".
template <class Items, class Of = std::identity>
std::string joined(const Items& items, const Of& of = {}, std::string_view between = ", ") {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += between;
    text += std::invoke(of, item);
  }
  return text;
}

}  // namespace penstock
