#include "engine/files/element_type.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

namespace penstock {
namespace {

struct TypeRow {
  std::string_view name;
  std::size_t bytes;
  DType dtype;  ///< `dtype` is the type of the elements once they were read.
};

/// `type_rows` has a row for each ElementType, in their order.
constexpr TypeRow type_rows[] = {{"F32", 4, DType::f32},      {"I64", 8, DType::i64},
                                 {"U8", 1, DType::u8},        {"I32", 4, DType::i32},
                                 {"BOOL", 1, DType::boolean}, {"F16", 2, DType::f32},
                                 {"BF16", 2, DType::f32},     {"F64", 8, DType::f32}};

const TypeRow& row_of(ElementType type) {
  return type_rows[static_cast<std::size_t>(type)];
}

/// Returns the element number `i` of `elements`, which may be anywhere in memory.
template <class Element>
Element element(std::span<const std::byte> elements, std::size_t i) {
  Element value;
  std::memcpy(&value, elements.data() + i * sizeof value, sizeof value);
  return value;
}

/// Returns the number that has the bits `half` in IEEE 754 binary16: 1 bit for the sign, 5 for the
/// exponent and 10 for the fraction.
float from_f16(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half} >> 15 << 31;
  const std::uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 0) {
    // The number is fraction·2^-24, which is no denormal in f32.
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t of_f32 = exponent == 31 ? 255 : exponent - 15 + 127;
  return std::bit_cast<float>(sign | of_f32 << 23 | fraction << 13);
}

}  // namespace

std::optional<ElementType> element_type(std::string_view name) {
  const auto row = std::ranges::find(type_rows, name, &TypeRow::name);
  if (row == std::end(type_rows)) return std::nullopt;
  return static_cast<ElementType>(row - std::begin(type_rows));
}

std::string_view name_of(ElementType type) {
  return row_of(type).name;
}

ElementType element_type_of(DType dtype) {
  // The types of tensors come first, each as it is.
  const auto row = std::ranges::find(type_rows, dtype, &TypeRow::dtype);
  return static_cast<ElementType>(row - std::begin(type_rows));
}

std::size_t size_of(ElementType type) {
  return row_of(type).bytes;
}

DType read_as(ElementType type) {
  return row_of(type).dtype;
}

bool exceeds_f32(double number) {
  // Numbers from here on are rounded to infinity: it is halfway between the largest f32 and 2^128.
  constexpr double limit = 0x1.ffffffp127;
  return std::isfinite(number) && std::abs(number) >= limit;
}

std::optional<std::string> untruth_text(std::span<const std::byte> bytes) {
  const auto bad =
      std::ranges::find_if(bytes, [](std::byte byte) { return std::to_integer<int>(byte) > 1; });
  if (bad == bytes.end()) return std::nullopt;
  return "expected bytes of 0 and 1, got " + std::to_string(std::to_integer<int>(*bad)) +
         " as element " + std::to_string(bad - bytes.begin());
}

std::optional<double> convert(ElementType type, std::span<const std::byte> elements,
                              std::span<float> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (type == ElementType::f16) {
      numbers[i] = from_f16(element<std::uint16_t>(elements, i));
    } else if (type == ElementType::bf16) {
      const std::uint32_t upper_half = element<std::uint16_t>(elements, i);
      numbers[i] = std::bit_cast<float>(upper_half << 16);
    } else {
      const double number = element<double>(elements, i);
      if (exceeds_f32(number)) return number;
      numbers[i] = static_cast<float>(number);
    }
  }
  return std::nullopt;
}

}  // namespace penstock
