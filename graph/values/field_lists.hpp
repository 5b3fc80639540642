// The fields of a plain struct are listed in one place, and the functions that check, write or read
// such structs go through that list. This header has what these lists and functions share. All
// functions are pure.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>
#include <vector>

namespace penstock {

/// The concept accepts the types `Group` and `const Group`, so that one list of fields serves both
/// for reading the fields of a struct and for changing them.
template <class T, class Group>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Group>;

/// Returns the names of all enumerators of `Enum`. The enumerators have to be numbered from 0 on
/// without a gap, and to_string() has to return "unknown" for the first number behind them.
template <class Enum>
std::vector<std::string_view> enumerator_names() {
  std::vector<std::string_view> names;
  for (int i = 0; to_string(static_cast<Enum>(i)) != "unknown"; ++i)
    names.push_back(to_string(static_cast<Enum>(i)));
  return names;
}

}  // namespace penstock
