// Elements of tensors of any type are read and written as numbers here, one by one, so that no list
// of numbers takes memory beside the tensors. The functions are pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "engine/onnx/folding/places.hpp"
#include "graph/values/element_type.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// An ElementReader returns the element at a place of a tensor as a Number. It refers to the
/// tensor.
template <class Number>
class ElementReader {
 public:
  explicit ElementReader(const Tensor& tensor) : dtype_(tensor.dtype()), raw_(tensor.raw()) {}

  Number operator[](std::size_t place) const {
    return with_element_type(dtype_, [&]<class Element>() {
      return static_cast<Number>(reinterpret_cast<const Element*>(raw_)[place]);
    });
  }

 private:
  DType dtype_;
  const std::byte* raw_;
};

/// Returns the element of type Element that a number becomes. A bool is true for all numbers but 0.
/// An integer is 0 for a float that no integer of 64 bits can be, such as NaN. All else is
/// converted as in C++.
template <class Element, class Number>
Element converted(Number number) {
  if constexpr (std::is_same_v<Element, bool>)
    return number != 0;
  else if constexpr (std::is_floating_point_v<Element> || std::is_integral_v<Number>)
    return static_cast<Element>(number);
  else if (!(number > -0x1p63 && number < 0x1p63))
    return 0;
  else
    return static_cast<Element>(static_cast<std::int64_t>(number));
}

/// Returns what filled() does, where elements of the type `dtype` are of the type Element in C++.
template <class Element, class NumberAt>
Tensor filled_with(DType dtype, const Shape& shape, const NumberAt& number_at) {
  const auto count = static_cast<std::size_t>(shape.elements());
  const std::shared_ptr<Element[]> elements(new Element[std::max<std::size_t>(1, count)]);
  Element* to = elements.get();
  for_each_index(dims_of(shape),
                 [&](const Dims& index) { *to++ = converted<Element>(number_at(index)); });
  return Tensor::wrap(dtype, shape, {elements, reinterpret_cast<const std::byte*>(elements.get())});
}

/// Returns a tensor of `dtype` whose element at each index is what the number `number_at(index)`
/// becomes (converted()). `number_at` is called for every index in order, and returns a double or
/// an integer.
template <class NumberAt>
Tensor filled(DType dtype, const Shape& shape, const NumberAt& number_at) {
  if (dtype == DType::boolean) return filled_with<bool>(dtype, shape, number_at);
  return with_element_type(
      dtype, [&]<class Element>() { return filled_with<Element>(dtype, shape, number_at); });
}

/// Returns the elements of x, which are read as a Number, as a tensor of `dtype`.
template <class Number>
Tensor copied(const Tensor& x, DType dtype) {
  const ElementReader<Number> numbers(x);
  std::size_t place = 0;
  return filled(dtype, x.shape(), [&](const Dims&) { return numbers[place++]; });
}

}  // namespace penstock
