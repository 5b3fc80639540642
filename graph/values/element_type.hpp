// Code that is the same for elements of every type is written once and called for the C++ type.
#pragma once

#include <cstdint>

#include "penstock/shape.hpp"

namespace penstock {

/// Calls `use.operator()<T>()` for the C++ type T of elements of type `dtype`, and returns what it
/// returns. The elements of a bool are taken as bytes, because memory from outside may have others
/// than 0 and 1.
decltype(auto) with_element_type(DType dtype, const auto& use) {
  switch (dtype) {
    case DType::f32:
      return use.template operator()<float>();
    case DType::u8:
    case DType::boolean:
      return use.template operator()<std::uint8_t>();
    case DType::i32:
      return use.template operator()<std::int32_t>();
    case DType::i64:
      break;
  }
  return use.template operator()<std::int64_t>();
}

}  // namespace penstock
