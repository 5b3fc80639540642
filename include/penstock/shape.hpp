// Element types and shapes. Plain values; no heap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace penstock {

enum class DType : std::uint8_t { f32, i64 };

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) noexcept {
  return dtype == DType::f32 ? 4 : 8;
}
/// "f32" or "i64".
std::string_view to_string(DType dtype) noexcept;

template <class T>
struct dtype_of;
template <>
/// float is `f32`.
struct dtype_of<float> {
  static constexpr DType value = DType::f32;  ///< This is the type of a tensor's elements.
};
template <>
/// std::int64_t is `i64`.
struct dtype_of<std::int64_t> {
  static constexpr DType value = DType::i64;  ///< This is the type of a tensor's elements.
};

/// Up to eight non-negative dimensions, slowest first; `[]` is a scalar with one element.
class Shape {
 public:
  static constexpr std::size_t max_rank = 8;  ///< No shape has more dimensions than these.

  Shape() = default;
  /// @throws Error shape_mismatch if there are more than eight dimensions, one is negative, or the
  /// number of elements overflows.
  Shape(std::initializer_list<std::int64_t> dims);
  /// Makes a shape of these dimensions. @throws Error as above.
  explicit Shape(std::span<const std::int64_t> dims);

  /// Returns the number of dimensions.
  std::size_t rank() const noexcept { return rank_; }
  /// Returns the product of the dimensions; 1 for a scalar.
  std::int64_t elements() const noexcept;
  /// Returns the dimensions, slowest first. The span lives as long as this shape.
  std::span<const std::int64_t> dims() const noexcept { return {dims_.data(), rank_}; }
  /// Returns the first dimension's place.
  const std::int64_t* begin() const noexcept { return dims_.data(); }
  /// Returns the place behind the last dimension.
  const std::int64_t* end() const noexcept { return dims_.data() + rank_; }

  /// Dimension `axis`; a negative axis counts from the last. Unchecked.
  std::int64_t operator[](std::ptrdiff_t axis) const noexcept {
    return dims_[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::ptrdiff_t>(rank_)
                                                   : axis)];
  }
  /// A copy with dimension `axis` set to `size`.
  Shape with(std::ptrdiff_t axis, std::int64_t size) const;

  /// Returns whether both have the same dimensions.
  bool operator==(const Shape& other) const noexcept;

 private:
  std::array<std::int64_t, max_rank> dims_{};
  std::size_t rank_ = 0;
};

/// "[40,1,28,28]"; "[]" for a scalar.
std::string to_string(const Shape& shape);

}  // namespace penstock
