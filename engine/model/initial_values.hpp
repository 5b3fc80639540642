// The initial values of a parameter depend on its model's seed and on its own name, and neither on
// the order of declaration nor on anything else in the model. These functions are pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/ir/graph.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// Returns an f32 tensor of `shape` with the initial values of the parameter `name`.
Tensor initial_values(const graph::Initializer& initializer, const Shape& shape, std::uint64_t seed,
                      std::string_view name);

}  // namespace penstock
