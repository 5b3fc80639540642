#include "penstock/tensor.hpp"

#include <cstring>

#include "graph/values/memory.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

template <class T>
std::shared_ptr<const std::byte> copied(const Shape& shape, std::span<const T> values) {
  if (static_cast<std::int64_t>(values.size()) != shape.elements())
    throw Error(Errc::shape_mismatch, "tensor " + to_string(shape) + ": expected " +
                                          std::to_string(shape.elements()) + " values, got " +
                                          std::to_string(values.size()));
  auto block = allocate_block(values.size_bytes());
  if (!values.empty()) std::memcpy(block.get(), values.data(), values.size_bytes());
  return block;
}

template <class T>
Tensor of_values(DType dtype, const Shape& shape, std::span<const T> values) {
  return or_out_of_memory("a tensor",
                          [&] { return Tensor::wrap(dtype, shape, copied(shape, values)); });
}

}  // namespace

Tensor::Tensor(const Shape& shape, std::span<const float> values)
    : Tensor(of_values(DType::f32, shape, values)) {}

Tensor::Tensor(const Shape& shape, std::span<const std::int64_t> values)
    : Tensor(of_values(DType::i64, shape, values)) {}

Tensor::Tensor(const Shape& shape, std::span<const std::uint8_t> values)
    : Tensor(of_values(DType::u8, shape, values)) {}

Tensor::Tensor(const Shape& shape, std::span<const std::int32_t> values)
    : Tensor(of_values(DType::i32, shape, values)) {}

Tensor::Tensor(const Shape& shape, std::span<const bool> values)
    : Tensor(of_values(DType::boolean, shape, values)) {}

Tensor::Tensor(const Shape& shape, std::initializer_list<float> values)
    : Tensor(shape, std::span<const float>(values.begin(), values.size())) {}

Tensor Tensor::zeros(DType dtype, const Shape& shape) {
  return or_out_of_memory("Tensor::zeros", [&] {
    const auto elements = static_cast<std::size_t>(shape.elements());
    return wrap(dtype, shape, allocate_block(elements * size_of(dtype)));
  });
}

Tensor Tensor::wrap(DType dtype, const Shape& shape, std::shared_ptr<const std::byte> elements) {
  return or_out_of_memory("a tensor", [&] {
    if (!elements && shape.elements() > 0)
      throw Error(Errc::invalid_argument,
                  "tensor " + to_string(shape) + ": expected a pointer to " +
                      count_text(shape.elements(), "element") + ", got null");
    Tensor tensor;
    tensor.body_ = std::make_shared<const Body>(Body{dtype, shape, std::move(elements)});
    return tensor;
  });
}

void Tensor::refuse_empty() {
  throw or_out_of_memory("a tensor", [] {
    return Error(
        Errc::invalid_argument,
        "tensor: expected one with elements, got an empty handle, as Tensor() makes, which "
        "has neither a shape nor elements; ask `if (tensor)` first");
  });
}

void Tensor::require(DType wanted) const {
  if (dtype() == wanted) return;
  or_out_of_memory("a tensor", [&] {
    throw Error(Errc::shape_mismatch, "tensor " + to_string(shape()) + ": expected " +
                                          std::string(to_string(wanted)) + " elements, got " +
                                          std::string(to_string(dtype())));
  });
}

float Tensor::item() const {
  const auto values = as<float>();
  or_out_of_memory("Tensor::item", [&] {
    if (values.size() != 1)
      throw Error(Errc::shape_mismatch,
                  "tensor " + to_string(shape()) + ": item() needs exactly one element, got " +
                      std::to_string(values.size()) +
                      "; as<float>() returns all of them, and the mean of a step's loss is " +
                      "StepResult::mean_loss");
  });
  return values[0];
}

Tensor Tensor::rows(std::int64_t begin, std::int64_t end) const {
  return or_out_of_memory("Tensor::rows", [&] {
    if (shape().rank() == 0 || begin < 0 || end < begin || end > shape()[0])
      throw Error(Errc::shape_mismatch, "tensor " + to_string(shape()) + ": has no rows " +
                                            std::to_string(begin) + " to " + std::to_string(end));
    const std::size_t row_bytes = shape()[0] ? bytes() / static_cast<std::size_t>(shape()[0]) : 0;
    return wrap(dtype(), shape().with(0, end - begin),
                {storage(), raw() + static_cast<std::size_t>(begin) * row_bytes});
  });
}

Tensor Tensor::reshaped(const Shape& shape) const {
  return or_out_of_memory("Tensor::reshaped", [&] {
    if (shape.elements() != elements())
      throw Error(Errc::shape_mismatch,
                  "tensor: cannot view " + to_string(this->shape()) + " as " + to_string(shape));
    return wrap(dtype(), shape, storage());
  });
}

}  // namespace penstock
