// joined() writes a list as text.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace penstock {

/// Returns `of(item)` for each item, separated by `between`, such as "a, b".
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
