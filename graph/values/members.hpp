// This header finds the members of an aggregate: a structure whose members are all public, and that
// has no base. Whoever goes through the members of many structures needs no list of them.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

namespace penstock::members {

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
  static_assert(members <= 10, "a structure of more than ten members would need a line here");
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

}  // namespace penstock::members
