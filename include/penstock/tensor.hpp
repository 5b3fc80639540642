// Tensor: a cheap handle to immutable, 64-byte aligned elements. Safe to copy between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/shape.hpp"

namespace penstock {

/// A dense, row-major array of `f32` or `i64` elements. Copying copies the handle, never the
/// elements, which nobody changes once the tensor is shared.
class Tensor {
 public:
  /// An empty handle: `!tensor`.
  Tensor() = default;

  /// Copies `values` into new memory.
  /// @throws Error shape_mismatch if their number is not `shape.elements()`.
  Tensor(const Shape& shape, std::span<const float> values);
  Tensor(const Shape& shape, std::span<const std::int64_t> values);
  Tensor(const Shape& shape, std::initializer_list<float> values);
  static Tensor zeros(DType dtype, const Shape& shape);

  /// A tensor over elements that somebody else owns; `elements` keeps them alive.
  static Tensor wrap(DType dtype, const Shape& shape, std::shared_ptr<const std::byte> elements);

  explicit operator bool() const noexcept { return body_ != nullptr; }
  DType dtype() const noexcept { return body_->dtype; }
  const Shape& shape() const noexcept { return body_->shape; }
  std::int64_t elements() const noexcept { return body_->shape.elements(); }
  std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(elements()) * size_of(dtype());
  }
  const std::byte* raw() const noexcept { return body_->elements.get(); }
  const std::shared_ptr<const std::byte>& storage() const noexcept { return body_->elements; }

  /// The elements. @throws Error shape_mismatch if they are not of type T (float, std::int64_t).
  template <class T>
  std::span<const T> as() const {
    require(dtype_of<T>::value);
    return {reinterpret_cast<const T*>(raw()), static_cast<std::size_t>(elements())};
  }
  /// The element of a tensor that has exactly one. @throws Error shape_mismatch otherwise.
  float item() const;

  /// Rows [begin, end) of dimension 0, sharing these elements.
  /// @throws Error shape_mismatch if the tensor has no such rows.
  Tensor rows(std::int64_t begin, std::int64_t end) const;
  /// The same elements under another shape. @throws Error shape_mismatch if the counts differ.
  Tensor reshaped(const Shape& shape) const;

 private:
  struct Body {
    DType dtype;
    Shape shape;
    std::shared_ptr<const std::byte> elements;
  };
  void require(DType dtype) const;

  std::shared_ptr<const Body> body_;
};

}  // namespace penstock
