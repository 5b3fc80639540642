// A parameter starts with numbers that are drawn from its model's seed and its own name, so that
// neither the order of declaration nor anything else in the model has a say in it. These functions
// are pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/ir/graph.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// Returns an f32 tensor of `shape` for the parameter `name`.
Tensor initial_values(const graph::Initializer& initializer, const Shape& shape, std::uint64_t seed,
                      std::string_view name);

}  // namespace penstock
