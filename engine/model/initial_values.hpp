// The initial values of a parameter depend on its model's seed and on its own name, and neither on
// the order of declaration nor on anything else in the model. These functions are pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "penstock/initializer.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// Checks that the parameter `name` of shape `shape` can have its initial values from
/// `initializer`.
/// @throws Error invalid_argument, whose text names the parameter, if a number of the initializer
/// is out of range, or if the shape has no fans for an initializer that uses them.
void check_initializer(const Initializer& initializer, const Shape& shape, std::string_view name);

/// Returns an f32 tensor of `shape` with the initial values of the parameter `name`. The
/// initializer must have passed check_initializer().
Tensor initial_values(const Initializer& initializer, const Shape& shape, std::uint64_t seed,
                      std::string_view name);

}  // namespace penstock
