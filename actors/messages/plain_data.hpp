// is_plain_data() says whether a type is made of nothing but numbers, text, tensors and lists of
// these, so that its values mean the same in another process. The compiler decides that from the
// type's members.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/execution/tensor_list.hpp"
#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "graph/values/members.hpp"
#include "penstock/learning_rate_schedule.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

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
  // A rule goes by its name and its constants, and a schedule by its segments.
  else if constexpr (std::is_same_v<T, graph::ParameterRule> ||
                     std::is_same_v<T, LearningRateSchedule>)
    return true;
  else if constexpr (std::is_aggregate_v<T> && std::is_class_v<T>)
    return AllPlain<decltype(members::all(std::declval<T&>()))>::value;
  else
    return IsPlainList<T>::value;
}

}  // namespace penstock::actors
