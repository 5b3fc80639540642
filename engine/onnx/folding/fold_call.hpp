// A FoldCall is a node whose inputs are all known when a model is imported, such as the arithmetic
// of shapes that exporters write. A FoldRule computes what such a node computes. Both are plain
// data; the functions change nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"
#include "engine/onnx/format/tensor_reader.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

struct FoldCall {
  const OnnxNode& node;
  const std::vector<Tensor>& inputs;  ///< An input that is left out is an empty handle.
  TensorReader& reader;               ///< This reads the tensors of attributes.

  /// Returns whether the node has input number `i`.
  bool has(std::size_t i) const { return i < inputs.size() && inputs[i]; }
  /// Returns input number `i`. @throws Error corrupt_file if the node lacks it.
  const Tensor& input(std::size_t i) const;
  /// Returns the integer attribute `name`, or `fallback`.
  std::int64_t integer(std::string_view name, std::int64_t fallback) const {
    return node.integer(name, fallback);
  }
  /// Returns the integers that the attribute `name` has or, failing that, input number `i`; nothing
  /// if the node has neither.
  std::vector<std::int64_t> integers(std::string_view name, std::size_t i) const;
};

/// A FoldFunction returns the results of a node, or an empty list if it does not fold that node.
using FoldFunction = std::vector<Tensor> (*)(const FoldCall&);

/// A FoldRule says by which function the nodes of an operator are folded.
struct FoldRule {
  std::string_view op_type;
  FoldFunction fold;
};

/// Returns what the node computes, or an empty list if its operator is not one that is folded. A
/// result that does not share the elements of an input has at most `most_folded` of them, and no
/// other memory is taken for elements.
/// @throws Error corrupt_file if the inputs are not what the operator takes; unsupported if a
/// result would be larger.
std::vector<Tensor> fold(const FoldCall& call);

/// Returns whether nodes of this operator are folded.
bool is_folded(std::string_view op_type);

/// A result that is folded has at most this many elements, unless it shares those of an input.
inline constexpr std::int64_t most_folded = std::int64_t{1} << 22;

/// Returns the elements of a tensor of integers or bools. @throws Error corrupt_file for other
/// tensors.
std::vector<std::int64_t> integers_of(const Tensor& tensor);
/// Returns the elements of any tensor as numbers.
std::vector<double> numbers_of(const Tensor& tensor);
/// Returns a tensor of `dtype` whose elements are what these numbers become. A bool is true for all
/// numbers but 0. An integer is 0 for a number that no integer of 64 bits can be, such as NaN. All
/// else is converted as in C++.
Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<double>& numbers);
/// Returns a tensor of `dtype`, which is no float, with these elements.
Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<std::int64_t>& integers);

/// Returns `dims` as the Shape of a folded result that takes memory. @throws Error as fold().
Shape folded_shape(const std::vector<std::int64_t>& dims);

}  // namespace penstock
