#include "engine/onnx/format/tensor_values.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "engine/files/element_type.hpp"
#include "engine/onnx/format/external_data.hpp"
#include "engine/onnx/format/write_onnx_file.hpp"
#include "engine/onnx/shapes/checked_dims.hpp"
#include "engine/onnx/shapes/corrupt.hpp"
#include "graph/values/number_range.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Returns the number of bytes that an element of `type` has in a file's raw elements.
std::size_t raw_size(OnnxType type) {
  switch (type) {
    case OnnxType::u8:
    case OnnxType::i8:
    case OnnxType::boolean:
      return 1;
    case OnnxType::u16:
    case OnnxType::i16:
    case OnnxType::f16:
    case OnnxType::bf16:
      return 2;
    case OnnxType::f32:
    case OnnxType::i32:
    case OnnxType::u32:
      return 4;
    default:
      return 8;
  }
}

/// Returns the integer of type `Stored` at `bytes`.
template <class Stored>
std::int64_t stored_integer(const std::byte* bytes) {
  Stored value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<std::int64_t>(value);
}

std::int64_t raw_integer(OnnxType type, const std::byte* bytes) {
  switch (type) {
    case OnnxType::u8:
    case OnnxType::boolean:
      return stored_integer<std::uint8_t>(bytes);
    case OnnxType::i8:
      return stored_integer<std::int8_t>(bytes);
    case OnnxType::u16:
      return stored_integer<std::uint16_t>(bytes);
    case OnnxType::i16:
      return stored_integer<std::int16_t>(bytes);
    case OnnxType::i32:
      return stored_integer<std::int32_t>(bytes);
    case OnnxType::u32:
      return stored_integer<std::uint32_t>(bytes);
    default:
      return stored_integer<std::int64_t>(bytes);
  }
}

/// Returns the bits of IEEE 754 binary16 for a number that is not negative, to nearest, with ties
/// to even. Numbers from 65520 on become infinity.
std::uint16_t f16_bits(float number) {
  if (std::isnan(number)) return 0x7e00;
  if (number >= 65520) return 0x7c00;
  if (number < 0x1p-14f) return static_cast<std::uint16_t>(std::nearbyint(number * 0x1p24f));
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t rounded = bits + 0xfff + (bits >> 13 & 1);
  constexpr std::uint32_t bias = (127u - 15u) << 23;
  return static_cast<std::uint16_t>((rounded - bias) >> 13);
}

/// Returns the bits of bfloat16 for a number that is not negative, which are the upper ones of f32.
std::uint16_t bf16_bits(float number) {
  if (std::isnan(number)) return 0x7fc0;
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Returns the bits of a number as f16 or bf16.
std::uint16_t half_of(float number, OnnxType type) {
  const bool is_f16 = type == OnnxType::f16;
  const std::uint16_t bits = is_f16 ? f16_bits(std::abs(number)) : bf16_bits(std::abs(number));
  if (bits == (is_f16 ? 0x7c00 : 0x7f80) && std::isfinite(number))
    throw Error(Errc::invalid_argument,
                "expected numbers that " + to_string(type) + " has, got " + number_text(number));
  return static_cast<std::uint16_t>(bits | (std::signbit(number) ? 0x8000 : 0));
}

template <class Element>
Tensor narrowed(const Shape& shape, std::span<const std::int64_t> integers) {
  std::vector<Element> elements;
  elements.reserve(integers.size());
  for (const std::int64_t integer : integers) {
    if (!std::in_range<Element>(integer))
      corrupt("an element is no number of the tensor's type: " + std::to_string(integer));
    elements.push_back(static_cast<Element>(integer));
  }
  return {shape, std::span<const Element>(elements)};
}

Tensor boolean_tensor(const Shape& shape, std::span<const std::int64_t> integers) {
  const auto elements = std::make_unique<bool[]>(integers.size());
  for (std::size_t i = 0; i < integers.size(); ++i) elements[i] = integers[i] != 0;
  return {shape, std::span<const bool>(elements.get(), integers.size())};
}

Tensor integer_tensor(const OnnxTensor& tensor, const Shape& shape,
                      std::span<const std::int64_t> integers) {
  if (tensor.type == OnnxType::u64)
    for (const std::int64_t integer : integers)
      if (integer < 0) throw Error(Errc::unsupported, "an element is too large for int64");
  switch (dtype_of_onnx(tensor.type)) {
    case DType::boolean:
      return boolean_tensor(shape, integers);
    case DType::u8:
      return narrowed<std::uint8_t>(shape, integers);
    case DType::i32:
      return narrowed<std::int32_t>(shape, integers);
    default:
      return {shape, integers};
  }
}

std::optional<ElementType> converted_type(OnnxType type) {
  switch (type) {
    case OnnxType::f16:
      return ElementType::f16;
    case OnnxType::bf16:
      return ElementType::bf16;
    case OnnxType::f64:
      return ElementType::f64;
    default:
      return std::nullopt;
  }
}

Tensor real_tensor(OnnxType type, const Shape& shape, std::span<const std::byte> raw) {
  std::vector<float> numbers(static_cast<std::size_t>(shape.elements()));
  if (const std::optional<ElementType> from = converted_type(type)) {
    if (const std::optional<double> too_large = convert(*from, raw, numbers))
      throw Error(Errc::unsupported,
                  "an element is too large for f32: " + std::to_string(*too_large));
  } else if (!raw.empty()) {
    std::memcpy(numbers.data(), raw.data(), raw.size());
  }
  return {shape, std::span<const float>(numbers)};
}

Tensor tensor_of_raw(const OnnxTensor& tensor, const Shape& shape, std::span<const std::byte> raw) {
  const std::size_t size = raw_size(tensor.type);
  if (raw.size() != size * static_cast<std::size_t>(shape.elements()))
    corrupt("expected " + std::to_string(size * static_cast<std::size_t>(shape.elements())) +
            " bytes for the elements of " + to_string(tensor.type) + to_string(shape) + ", got " +
            std::to_string(raw.size()));
  if (dtype_of_onnx(tensor.type) == DType::f32) return real_tensor(tensor.type, shape, raw);
  std::vector<std::int64_t> integers;
  integers.reserve(raw.size() / size);
  for (std::size_t i = 0; i < raw.size(); i += size)
    integers.push_back(raw_integer(tensor.type, raw.data() + i));
  return integer_tensor(tensor, shape, integers);
}

/// Returns the elements of type f16 or bf16 that a file has as integers.
std::vector<std::byte> half_bytes(const std::vector<std::int64_t>& integers) {
  std::vector<std::byte> bytes(2 * integers.size());
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const auto half = static_cast<std::uint16_t>(integers[i]);
    std::memcpy(bytes.data() + 2 * i, &half, sizeof half);
  }
  return bytes;
}

Tensor tensor_of_lists(const OnnxTensor& tensor, const Shape& shape) {
  const auto expect_elements = [&](std::size_t count) {
    if (count != static_cast<std::size_t>(shape.elements()))
      corrupt("expected " + std::to_string(shape.elements()) + " elements for " +
              to_string(tensor.type) + to_string(shape) + ", got " + std::to_string(count));
  };
  switch (tensor.type) {
    case OnnxType::f32:
      expect_elements(tensor.floats.size());
      return {shape, std::span<const float>(tensor.floats)};
    case OnnxType::f64:
      expect_elements(tensor.doubles.size());
      return real_tensor(tensor.type, shape, std::as_bytes(std::span(tensor.doubles)));
    case OnnxType::f16:
    case OnnxType::bf16:
      expect_elements(tensor.integers.size());
      return real_tensor(tensor.type, shape, half_bytes(tensor.integers));
    default:
      expect_elements(tensor.integers.size());
      return integer_tensor(tensor, shape, tensor.integers);
  }
}

Tensor checked_values(const OnnxTensor& tensor, const std::filesystem::path& directory) {
  const DType dtype = dtype_of_onnx(tensor.type);
  const Shape shape = shape_of(tensor);
  if (shape.elements() == 0) return Tensor::zeros(dtype, shape);
  if (!tensor.external.empty()) {
    return tensor_of_raw(tensor, shape,
                         read_external_data(tensor.external, bytes_in_file(tensor), directory));
  }
  return tensor.raw ? tensor_of_raw(tensor, shape, *tensor.raw) : tensor_of_lists(tensor, shape);
}

}  // namespace

DType dtype_of_onnx(OnnxType type) {
  switch (type) {
    case OnnxType::f32:
    case OnnxType::f16:
    case OnnxType::f64:
    case OnnxType::bf16:
      return DType::f32;
    case OnnxType::u8:
      return DType::u8;
    case OnnxType::i8:
    case OnnxType::u16:
    case OnnxType::i16:
    case OnnxType::i32:
      return DType::i32;
    case OnnxType::i64:
    case OnnxType::u32:
    case OnnxType::u64:
      return DType::i64;
    case OnnxType::boolean:
      return DType::boolean;
    default:
      throw Error(Errc::unsupported, "Penstock has no tensors of " + to_string(type));
  }
}

OnnxType onnx_type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return OnnxType::f32;
    case DType::i64:
      return OnnxType::i64;
    case DType::u8:
      return OnnxType::u8;
    case DType::i32:
      return OnnxType::i32;
    case DType::boolean:
      break;
  }
  return OnnxType::boolean;
}

Shape shape_of(const OnnxTensor& tensor) {
  if (tensor.dims.size() > Shape::max_rank)
    throw Error(Errc::unsupported,
                "Penstock's tensors have at most " + std::to_string(Shape::max_rank) +
                    " axes, and this one has " + std::to_string(tensor.dims.size()));
  return checked_shape(tensor.dims);
}

std::uint64_t bytes_in_file(const OnnxTensor& tensor) {
  return static_cast<std::uint64_t>(shape_of(tensor).elements()) *
         std::uint64_t{raw_size(tensor.type)};
}

Tensor values_of(const OnnxTensor& tensor, const std::filesystem::path& directory) try {
  return checked_values(tensor, directory);
} catch (const Error& error) {
  throw Error(error.code(), "tensor " + quoted_text(tensor.name) + ": " + error.what());
}

bool is_float(OnnxType type) {
  return dtype_of_onnx(type) == DType::f32;
}

std::vector<std::byte> raw_floats(std::span<const float> numbers, OnnxType type) {
  std::vector<std::byte> bytes;
  bytes.reserve(numbers.size() * raw_size(type));
  const auto append = [&](const auto& number) {
    const auto stored = std::as_bytes(std::span(&number, 1));
    bytes.insert(bytes.end(), stored.begin(), stored.end());
  };
  for (const float number : numbers)
    if (type == OnnxType::f64)
      append(double{number});
    else if (type == OnnxType::f32)
      append(number);
    else
      append(half_of(number, type));
  return bytes;
}

std::string onnx_tensor_bytes(const Tensor& tensor, const std::string& name) {
  return bytes_of(onnx_message(onnx_tensor_of(tensor, name)));
}

OnnxTensor onnx_tensor_of(const Tensor& tensor, const std::string& name) {
  return {.name = name,
          .type = onnx_type_of(tensor.dtype()),
          .dims = {tensor.shape().begin(), tensor.shape().end()},
          .raw = std::span(tensor.raw(), tensor.bytes())};
}

}  // namespace penstock
