// These pure functions deal with the numbers of an optimizer that may change while a model trains,
// and check that no other number has changed. A number is called an attribute, as in PopTorch, if
// it is a constant of the rule that is no switch, the greatest norm of the gradient, or the loss
// scaling.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "penstock/optimizer.hpp"

namespace penstock {

/// Checks that the optimizer, or one of its rules, has the attribute `attribute`. @throws Error
/// invalid_argument, which lists the known attributes, if not.
void expect_attribute(const Optimizer& optimizer, std::string_view attribute);

/// Returns whether the attribute has another value than its default in some settings of the
/// optimizer, or is the learning rate.
bool was_given(const Optimizer& optimizer, std::string_view attribute);

/// Checks that both optimizers have the same rule for each of a model's trainable `parameters`, and
/// for parameters in no group. @throws Error invalid_argument, which names both rules, if not.
void expect_rules_kept(const Optimizer& first, const Optimizer& next,
                       std::span<const std::string> parameters);

/// Checks that `next` has the switches of `first`, and the values of all attributes that are
/// constant in `first`, for each of a model's trainable `parameters`. Both optimizers are valid and
/// have the same rules. @throws Error invalid_argument, which names the first switch or attribute
/// that differs and, if it is one of the rule, the parameter for which it differs.
void expect_constants_kept(const Optimizer& first, const Optimizer& next,
                           std::span<const std::string> parameters);

}  // namespace penstock
