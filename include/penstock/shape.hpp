// These are the element types and shapes of tensors. They are plain values without heap memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "penstock/standard.hpp"

namespace penstock {

/// A DType is the type of a tensor's elements. Layers compute with f32, and take indices as i64.
/// The other types are for data on their way into a model, where they need less memory:
/// TensorFunctions::to_float() makes f32 of them.
enum class DType : std::uint8_t {
  f32,      ///< An element is a float.
  i64,      ///< An element is a std::int64_t.
  u8,       ///< An element is a std::uint8_t, such as a pixel.
  i32,      ///< An element is a std::int32_t, such as the number of a token.
  boolean,  ///< An element is a bool, such as those of a mask: one byte, which is 0 or 1.
};

/// Returns the number of bytes of one element.
constexpr std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::u8:
    case DType::boolean:
      return 1;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::i64:
      break;
  }
  return 8;
}
/// Returns "f32", "i64", "u8", "i32" or "bool".
std::string_view to_string(DType dtype) noexcept;

/// dtype_of has a member `value`, which is the DType of the C++ type `T`.
template <class T>
struct dtype_of;
/// This specialization says that the DType of float is `f32`.
template <>
struct dtype_of<float> {
  /// `value` is the type of the elements of a tensor of float.
  static constexpr DType value = DType::f32;
};
/// This specialization says that the DType of std::int64_t is `i64`.
template <>
struct dtype_of<std::int64_t> {
  /// `value` is the type of the elements of a tensor of std::int64_t.
  static constexpr DType value = DType::i64;
};
/// This specialization says that the DType of std::uint8_t is `u8`.
template <>
struct dtype_of<std::uint8_t> {
  /// `value` is the type of the elements of a tensor of std::uint8_t.
  static constexpr DType value = DType::u8;
};
/// This specialization says that the DType of std::int32_t is `i32`.
template <>
struct dtype_of<std::int32_t> {
  /// `value` is the type of the elements of a tensor of std::int32_t.
  static constexpr DType value = DType::i32;
};
/// This specialization says that the DType of bool is `boolean`.
template <>
struct dtype_of<bool> {
  /// `value` is the type of the elements of a tensor of bool.
  static constexpr DType value = DType::boolean;
};

/// A Shape has up to eight dimensions, 0 or more, the slowest first. `[]` is the shape of a scalar,
/// which has one element.
class Shape {
 public:
  static constexpr std::size_t max_rank = 8;  ///< No shape has more dimensions than this.

  Shape() = default;
  /// Makes a shape of the dimensions `dims`. @throws Error shape_mismatch if there are more than
  /// eight dimensions, if one is negative, or if the product of all dimensions, or of the first
  /// few, is above 2^48.
  Shape(std::initializer_list<std::int64_t> dims);
  /// Makes a shape of the dimensions `dims`. @throws Error as the constructor from a list.
  explicit Shape(std::span<const std::int64_t> dims);

  /// Returns the number of dimensions.
  std::size_t rank() const noexcept { return rank_; }
  /// Returns the product of the dimensions; 1 for a scalar.
  std::int64_t elements() const noexcept;
  /// Returns the dimensions, slowest first. The span lives as long as this shape.
  std::span<const std::int64_t> dims() const noexcept { return {dims_.data(), rank_}; }
  /// Returns a pointer to the first dimension.
  const std::int64_t* begin() const noexcept { return dims_.data(); }
  /// Returns a pointer behind the last dimension.
  const std::int64_t* end() const noexcept { return dims_.data() + rank_; }

  /// Returns dimension `axis`; a negative axis counts from the end. The axis is not checked.
  std::int64_t operator[](std::ptrdiff_t axis) const noexcept {
    return dims_[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::ptrdiff_t>(rank_)
                                                   : axis)];
  }
  /// Returns a copy in which dimension `axis` is `size`.
  Shape with(std::ptrdiff_t axis, std::int64_t size) const;

  /// Returns whether both shapes have the same dimensions.
  bool operator==(const Shape& other) const noexcept;

 private:
  std::array<std::int64_t, max_rank> dims_{};
  std::size_t rank_ = 0;
};

/// Returns a text such as "[40,1,28,28]", which is "[]" for a scalar.
std::string to_string(const Shape& shape);

}  // namespace penstock
