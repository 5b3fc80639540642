// These functions say which numbers of an optimizer may change while a model trains, and whether
// only those do. Such a number is called an attribute, as in PopTorch: a constant of the rule that
// is no switch, the greatest norm of the gradient, or the loss scaling. They are pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "penstock/optimizer.hpp"

namespace penstock {

/// Expects that the optimizer's rule, or the optimizer, has that attribute. @throws Error
/// invalid_argument that lists the attributes that there are.
void expect_attribute(const Optimizer& optimizer, std::string_view attribute);

/// Returns whether the attribute has another value than its default, or is the learning rate.
bool was_given(const Optimizer& optimizer, std::string_view attribute);

/// Expects that both have the same rule. @throws Error invalid_argument naming both rules.
void expect_rule_kept(const Optimizer& first, const Optimizer& next);

/// Expects that `next` has the constants of `first`. Both optimizers are valid and of the same
/// rule. @throws Error invalid_argument naming the first attribute that is constant in `first` and
/// differs in `next`, and the parameter, one of a model's trainable `parameters`, that it would
/// differ for.
void expect_constants_kept(const Optimizer& first, const Optimizer& next,
                           std::span<const std::string> parameters);

}  // namespace penstock
