// These functions give the optimizer's state names, as hosts and files see it, and take it back
// from named tensors. They are pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// Returns "step", i64 [], and for each trained parameter "PARAMETER.STATE", such as
/// "fc.weight.exp_avg".
std::vector<NamedTensor> named_state(const graph::Plan& plan, const actors::UpdateRules& rules,
                                     const actors::OptimizerTensors& tensors);

struct NamedType {
  std::string name;
  graph::TensorType type;
};

/// Checks names and types alone, before the tensors are there.
/// @throws Error shape_mismatch as tensors_of() does.
void expect_state_types(const graph::Plan& plan, const actors::UpdateRules& rules,
                        std::span<const NamedType> named, const std::string& subject);

/// Turns tensors under names back into the state.
/// @throws Error shape_mismatch that names, after `subject`, the tensor that is missing, has
/// another type, is there twice or belongs to no state; invalid_data if the step is negative or
/// more than 2^53, a number is not finite, or a mean of squares is negative.
actors::OptimizerTensors tensors_of(const graph::Plan& plan, const actors::UpdateRules& rules,
                                    std::span<const NamedTensor> named, const std::string& subject);

}  // namespace penstock
