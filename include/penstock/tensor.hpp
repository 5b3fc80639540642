// A Tensor is a cheap handle to immutable elements. Several threads may use copies of one handle at
// the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/shape.hpp"

namespace penstock {

/// A Tensor is a dense, row-major array of elements of a DType. Copying copies the handle and never
/// the elements, which do not change once the tensor is shared.
class Tensor {
 public:
  /// Makes an empty handle, for which `!tensor` holds. It has neither elements nor a shape, and
  /// every function that needs them throws Error invalid_argument. StepResult::loss of an inference
  /// is such a handle.
  Tensor() = default;

  /// Makes a tensor of f32 elements, and copies `values` into new memory.
  /// @throws Error shape_mismatch if their number is not `shape.elements()`.
  Tensor(const Shape& shape, std::span<const float> values);
  /// Makes a tensor of i64 elements, such as class numbers, and copies `values` into new memory.
  /// @throws Error shape_mismatch if their number is not `shape.elements()`.
  Tensor(const Shape& shape, std::span<const std::int64_t> values);
  /// Makes a tensor of u8 elements, such as pixels, and copies `values` into new memory.
  /// @throws Error shape_mismatch if their number is not `shape.elements()`.
  Tensor(const Shape& shape, std::span<const std::uint8_t> values);
  /// Makes a tensor of i32 elements, and copies `values` into new memory.
  /// @throws Error shape_mismatch if their number is not `shape.elements()`.
  Tensor(const Shape& shape, std::span<const std::int32_t> values);
  /// Makes a tensor of bool elements, such as a mask, and copies `values` into new memory. A
  /// std::vector<bool> has no array of bool; a std::array<bool, N> has one.
  /// @throws Error shape_mismatch if their number is not `shape.elements()`.
  Tensor(const Shape& shape, std::span<const bool> values);
  /// Makes a tensor of f32 elements, even if `values` are whole numbers, and copies them into new
  /// memory. Class numbers are i64: they come from a std::vector<std::int64_t>.
  /// @throws Error shape_mismatch if their number is not `shape.elements()`.
  Tensor(const Shape& shape, std::initializer_list<float> values);
  /// Returns a tensor of zeros.
  static Tensor zeros(DType dtype, const Shape& shape);

  /// Returns a tensor whose elements are in the memory that `elements` points to and keeps alive.
  /// The memory may have any alignment that its elements allow. For a `vector` that is held by a
  /// std::shared_ptr, `elements` is `{vector, reinterpret_cast<const std::byte*>(vector->data())}`.
  /// Each byte of a tensor of bool is 0 or 1; a model refuses another one before a call begins.
  /// @throws Error invalid_argument if `elements` is null and the tensor has elements.
  static Tensor wrap(DType dtype, const Shape& shape, std::shared_ptr<const std::byte> elements);

  /// Returns whether this handle has elements and a shape; see Tensor().
  explicit operator bool() const noexcept { return body_ != nullptr; }
  // All functions from dtype() on throw Error for an empty handle; see Tensor().

  /// Returns the type of the elements.
  DType dtype() const { return body().dtype; }
  /// Returns the shape.
  const Shape& shape() const { return body().shape; }
  /// Returns the number of elements.
  std::int64_t elements() const { return body().shape.elements(); }
  /// Returns the number of bytes of all elements.
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype()); }
  /// Returns a pointer to the first element.
  const std::byte* raw() const { return body().elements.get(); }
  /// Returns a handle to the memory of the elements, which keeps that memory alive.
  const std::shared_ptr<const std::byte>& storage() const { return body().elements; }

  /// Returns the elements.
  /// @throws Error shape_mismatch if they are not of type T (float, std::int64_t, std::uint8_t,
  /// std::int32_t, bool).
  template <class T>
  std::span<const T> as() const {
    require(dtype_of<T>::value);
    return {reinterpret_cast<const T*>(raw()), static_cast<std::size_t>(elements())};
  }
  /// Returns the element of a tensor that has exactly one. The loss of a step with several replicas
  /// or micro-batches has more; `StepResult::mean_loss` is their mean.
  /// @throws Error shape_mismatch if the tensor does not have exactly one element.
  float item() const;

  /// Returns rows [begin, end) of dimension 0 as a tensor that shares the elements of this one.
  /// @throws Error shape_mismatch if the tensor has no such rows.
  Tensor rows(std::int64_t begin, std::int64_t end) const;
  /// Returns a tensor that shares the elements of this one and has the shape `shape`.
  /// @throws Error shape_mismatch if the numbers of elements differ.
  Tensor reshaped(const Shape& shape) const;

 private:
  struct Body {
    DType dtype;
    Shape shape;
    std::shared_ptr<const std::byte> elements;
  };
  const Body& body() const {
    if (!body_) [[unlikely]]
      refuse_empty();
    return *body_;
  }
  [[noreturn]] static void refuse_empty();
  void require(DType wanted) const;

  std::shared_ptr<const Body> body_;
};

}  // namespace penstock
