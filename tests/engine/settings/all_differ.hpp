// expect_all_differ() checks whether a test of a struct changes all of its fields.
#pragma once

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

namespace penstock::testing {

/// Takes all fields of two structs of the same type, as std::tie gives them, and expects that each
/// differs.
template <class... Fields>
void expect_all_differ(const std::tuple<Fields...>& left, const std::tuple<Fields...>& right) {
  const auto differ = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::vector<bool>{(std::get<I>(left) != std::get<I>(right))...};
  }
  (std::index_sequence_for<Fields...>());
  for (std::size_t i = 0; i < differ.size(); ++i) EXPECT_TRUE(differ[i]) << "field " << i;
}

}  // namespace penstock::testing
