// is_plain_data() says whether a type is made of nothing but numbers, text, tensors and lists of
// these, so that its values mean the same in another process. The compiler decides that from the
// type's members.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/execution/tensor_list.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

/// The functions of this namespace find the members of aggregates. They are used only for their
/// types and constants, and never run.
namespace members {

/// An Anything stands for a value of any type.
struct Anything {
  template <class Member>
  operator Member() const;
};

template <class Aggregate, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires {
    Aggregate{(static_cast<void>(I), Anything{})...};
  };
}

/// Returns the number of members of an `Aggregate`.
template <class Aggregate, std::size_t Found = 0>
constexpr std::size_t count() {
  if constexpr (takes<Aggregate>(std::make_index_sequence<Found + 1>{}))
    return count<Aggregate, Found + 1>();
  else
    return Found;
}

/// Returns references to the members of `x`, which has at most ten.
template <class Aggregate>
auto all(Aggregate& x) {
  constexpr std::size_t members = count<Aggregate>();
  static_assert(members <= 10, "a message of more than ten members would need a line here");
  if constexpr (members == 0) {
    return std::tuple<>();
  } else if constexpr (members == 1) {
    auto& [a] = x;
    return std::tie(a);
  } else if constexpr (members == 2) {
    auto& [a, b] = x;
    return std::tie(a, b);
  } else if constexpr (members == 3) {
    auto& [a, b, c] = x;
    return std::tie(a, b, c);
  } else if constexpr (members == 4) {
    auto& [a, b, c, d] = x;
    return std::tie(a, b, c, d);
  } else if constexpr (members == 5) {
    auto& [a, b, c, d, e] = x;
    return std::tie(a, b, c, d, e);
  } else if constexpr (members == 6) {
    auto& [a, b, c, d, e, f] = x;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (members == 7) {
    auto& [a, b, c, d, e, f, g] = x;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (members == 8) {
    auto& [a, b, c, d, e, f, g, h] = x;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (members == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = x;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j] = x;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  }
}

}  // namespace members

template <class T>
constexpr bool is_plain_data();

/// AllPlain<std::tuple<T...>>::value says whether every type `T` is plain data.
template <class T>
struct AllPlain;
template <class... T>
struct AllPlain<std::tuple<T...>> {
  static constexpr bool value = (is_plain_data<std::remove_cvref_t<T>>() && ...);
};

template <class T>
struct IsPlainList : std::false_type {};
template <class T>
struct IsPlainList<std::vector<T>> : std::bool_constant<is_plain_data<T>()> {};

/// Returns whether a `T` holds nothing but numbers, text, tensors and lists of these. Such a type
/// has no pointer, no handle, no function, and no private members.
template <class T>
constexpr bool is_plain_data() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
    return true;
  else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Tensor> ||
                     std::is_same_v<T, TensorList>)
    return true;
  else if constexpr (std::is_aggregate_v<T> && std::is_class_v<T>)
    return AllPlain<decltype(members::all(std::declval<T&>()))>::value;
  else
    return IsPlainList<T>::value;
}

}  // namespace penstock::actors
