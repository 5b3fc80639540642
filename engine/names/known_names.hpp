// A text that refuses a name that does not exist goes on with the names that do.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/nearest_name.hpp"

namespace penstock {

/// Returns how a text that refuses `name` goes on, such as "; did you mean "fc1.weight"?" or, if no
/// name in `known` is like it, "; there are: x, y, labels". Long lists are cut short.
std::string instead_of(std::string_view name, const std::vector<std::string_view>& known);

/// Returns instead_of() for the names `name_of(item)` of all items.
template <class Items, class NameOf = std::identity>
std::string instead_of(std::string_view name, const Items& items, const NameOf& name_of) {
  std::vector<std::string_view> known;
  for (const auto& item : items) known.push_back(std::invoke(name_of, item));
  return instead_of(name, known);
}

}  // namespace penstock
