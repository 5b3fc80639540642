// An ElementType is a type of elements that files in the safetensors format may have. A tensor has
// fewer types, so elements of some types are converted when they are read. All functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "penstock/shape.hpp"

namespace penstock {

enum class ElementType : std::uint8_t { f32, i64, u8, i32, boolean, f16, bf16, f64 };

/// Returns the type that a file calls `name`, such as "BF16", or nothing if there is none.
std::optional<ElementType> element_type(std::string_view name);
/// Returns the name of `type` in a file.
std::string_view name_of(ElementType type);
/// Returns the type in which tensors of elements of type `dtype` are written.
ElementType element_type_of(DType dtype);
/// Returns the number of bytes that an element has in a file.
std::size_t size_of(ElementType type);
/// Returns the type of the elements of a tensor that is read from elements of type `type`.
DType read_as(ElementType type);

/// Returns whether `number` is finite, but too large for f32.
bool exceeds_f32(double number);

/// Returns the sentence that says which of the bytes, of which bools are made, is the first one
/// that is neither 0 nor 1, or nothing if there is none.
std::optional<std::string> untruth_text(std::span<const std::byte> bytes);

/// Converts elements of type F16, BF16 or F64 to f32. `elements` has size_of(type) bytes for each
/// number in `numbers`. F64 is rounded to nearest. Returns the first number of F64 that is finite
/// and too large for f32, in which case the numbers behind it are not converted, or nothing.
std::optional<double> convert(ElementType type, std::span<const std::byte> elements,
                              std::span<float> numbers);

}  // namespace penstock
