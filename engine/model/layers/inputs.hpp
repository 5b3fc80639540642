// Layers of several kinds share these functions: how they give sizes, shapes and biases to ops, and
// how their weights start.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/model_state.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"
#include "penstock/initializer.hpp"
#include "penstock/layer_options.hpp"

namespace penstock {

/// Returns the numbers of `size` in the form of an attribute of a 2-d op: one number if both are
/// the same, else a list.
inline graph::AttributeValue pair(Size2d size) {
  if (size.rows == size.columns) return size.rows;
  return std::vector<std::int64_t>{size.rows, size.columns};
}

/// Returns the initializer of the weights and biases of linear and convolution layers, as in
/// PyTorch: kaiming_uniform_ with a = sqrt(5).
inline Initializer fan_in_uniform(double fan_in) {
  const double bound = 1 / std::sqrt(fan_in);
  return Initializer::uniform(-bound, bound);
}

/// Returns the inputs of a layer that may have a bias.
inline std::vector<Value> with_bias(const Value& x, const Value& weight, const Value& bias) {
  std::vector<Value> inputs{x, weight};
  if (bias) inputs.push_back(bias);
  return inputs;
}

/// Returns the shape of `x` for one sample. @throws Error invalid_model, whose text begins with
/// `subject`, if `x` is not a value of the model.
inline const Shape& shape_of(const ModelState& model, std::string_view subject, const Value& x) {
  return model.network.graph().type(model.id(subject, x)).shape;
}

/// Checks that `x` has `rank` dimensions. @throws Error shape_mismatch, whose text begins with
/// `subject`, if it has not, and as shape_of().
inline void expect_rank(const ModelState& model, const std::string& subject, const Value& x,
                        std::size_t rank) {
  const Shape& shape = shape_of(model, subject, x);
  if (shape.rank() != rank)
    throw Error(Errc::shape_mismatch, subject + ": " +
                                          graph::rank_refusal("x of rank " + std::to_string(rank),
                                                              to_string(shape), shape));
}

/// Adds a node called `name` that gives `x` the shape `shape`, in which 0 keeps the dimension of x
/// and -1 stands for whatever is left. An empty `name` stands for one that the model makes up.
inline Value reshaped(ModelState& model, const Value& x, std::vector<std::int64_t> shape,
                      const std::string& name = "") {
  return model.apply(graph::reshape, {x}, {{"shape", std::move(shape)}}, name);
}

}  // namespace penstock
