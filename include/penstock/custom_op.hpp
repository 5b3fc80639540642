// A host adds ops of its own to the engine by functions on plain arrays. Such an op is then a layer
// like any other: Model::custom() adds it to a network, and it is pipelined, recomputed,
// differentiated, traced and reported as the engine's own ops are.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "penstock/shape.hpp"

namespace penstock {

/// An OpInput is a tensor of f32 or i64 that an op reads: dense, row by row. Axis 0 of what depends
/// on the data counts the samples of a micro-batch.
struct OpInput {
  Shape shape;                                  ///< `shape` is the shape of the tensor.
  std::span<const float> values = {};           ///< `values` are the elements of a tensor of f32.
  std::span<const std::int64_t> integers = {};  ///< `integers` are the elements of a tensor of i64.
};

/// An OpOutput is a tensor of f32 that an op writes. Its elements are zeros when the op begins.
struct OpOutput {
  Shape shape;                   ///< `shape` is the shape of the tensor.
  std::span<float> values = {};  ///< `values` are the elements.
};

/// A CustomOp is an op of the host's. Its functions run on the engine's threads, in the default
/// floating-point environment but with denormals as zeros, and several calls of them may run at the
/// same time. Training gives the same bits from every topology if the results depend on the inputs
/// alone: not on addresses, clocks, random numbers, or what earlier calls left behind; and if the
/// op treats each sample by itself. An exception of `forward` or `backward` ends the call of the
/// model with Error stage_failed, which has the text of the exception.
struct CustomOp {
  /// Models, plans and messages name the op by `name`, which no other op of the host's has.
  std::string name;
  /// Returns the shape of the output for inputs of these shapes. An exception refuses the inputs:
  /// the layer is not added, and Error shape_mismatch has the text of the exception. The function
  /// is called for several sizes of a micro-batch, that is, of axis 0.
  std::function<Shape(std::span<const Shape> inputs)> shape;
  /// Computes the output.
  std::function<void(std::span<const OpInput> inputs, const OpOutput& output)> forward;
  /// Computes the gradients of the inputs from `gradient`, which is that of the output. A gradient
  /// that nobody needs has no elements. Without this function, the op has no gradient, and what it
  /// reads counts as a constant.
  std::function<void(std::span<const OpInput> inputs, const OpInput& output,
                     const OpInput& gradient, std::span<const OpOutput> input_gradients)>
      backward = {};
};

/// Makes `op` known to all models of this process, for as long as it runs. The function may be
/// called from any thread. A program that loads plans from a cache registers its ops under the same
/// names each time that it runs.
/// @throws Error invalid_argument if the name is empty or another op's, or if `shape` or `forward`
/// is missing.
void register_op(CustomOp op);

}  // namespace penstock
