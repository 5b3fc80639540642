// A plain struct lists its fields once, and functions that check, write or read it iterate that
// list. This header has what such lists and functions share. All functions are pure.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>
#include <vector>

namespace penstock {

/// Stands for `Group`, or for the same as a constant: one list of fields serves to read and to
/// write.
template <class T, class Group>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Group>;

/// Returns the names of all enumerators, which are those that to_string() does not call "unknown".
template <class Enum>
std::vector<std::string_view> enumerator_names() {
  std::vector<std::string_view> names;
  for (int i = 0; to_string(static_cast<Enum>(i)) != "unknown"; ++i)
    names.push_back(to_string(static_cast<Enum>(i)));
  return names;
}

}  // namespace penstock
