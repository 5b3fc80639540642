// These functions make tensors of those in ONNX files, and back. Penstock has fewer types: elements
// of the floating-point types become f32, and integers become i32 or i64, which hold them all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// Returns the type of tensors whose elements an ONNX file has as `type`. @throws Error unsupported
/// if there is none.
DType dtype_of_onnx(OnnxType type);
/// Returns the type that an ONNX file has for a tensor of `dtype`.
OnnxType onnx_type_of(DType dtype);

/// Returns the shape of a tensor. @throws Error corrupt_file if no tensor can have it; unsupported
/// if it has more axes than a Shape has.
Shape shape_of(const OnnxTensor& tensor);

/// Returns the number of bytes that the elements of a tensor take in a file, where it has them as
/// they are. @throws Error as shape_of().
std::uint64_t bytes_in_file(const OnnxTensor& tensor);
/// Returns the elements of a tensor. If they are in another file, it is in `directory` or in a
/// directory inside it: names that lead elsewhere are refused, and so are links.
/// @throws Error io_error and corrupt_file, whose texts name the tensor; unsupported for elements
/// of other types, and for numbers that are too large for the type that they become.
Tensor values_of(const OnnxTensor& tensor, const std::filesystem::path& directory);

/// Returns the bytes of numbers that a file has as `type`, a floating-point type. They are rounded
/// to nearest. @throws Error invalid_argument for a number that is too large for the type.
std::vector<std::byte> raw_floats(std::span<const float> numbers, OnnxType type);
/// Returns whether tensors of f32 have the elements of a file's tensors of `type`. @throws Error as
/// dtype_of_onnx().
bool is_float(OnnxType type);

/// Returns a tensor as an ONNX file has it, whose raw elements are those of `tensor`.
OnnxTensor onnx_tensor_of(const Tensor& tensor, const std::string& name);
/// Returns the bytes of a file in ONNX's format for one tensor, such as "output_0.pb".
std::string onnx_tensor_bytes(const Tensor& tensor, const std::string& name);

}  // namespace penstock
