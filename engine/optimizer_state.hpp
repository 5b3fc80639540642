// These pure functions convert the optimizer's state to named tensors, as hosts and files have it,
// and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/update/weight_update.hpp"
#include "penstock/training_model.hpp"

namespace penstock {

/// Returns the tensor "step", i64 [], which counts the updates, and for each state tensor of a
/// trained parameter a tensor "PARAMETER.STATE", such as "fc.weight.exp_avg".
std::vector<NamedTensor> named_state(const graph::Plan& plan, const actors::UpdateRules& rules,
                                     const actors::OptimizerTensors& tensors);

struct NamedType {
  std::string name;
  graph::TensorType type;
};

/// Checks the names and types of a state's tensors, before the tensors themselves are there.
/// @throws Error shape_mismatch as tensors_of() does.
void expect_state_types(const graph::Plan& plan, const actors::UpdateRules& rules,
                        std::span<const NamedType> named, const std::string& subject);

/// StateNumbers say which numbers a state may have.
enum class StateNumbers : std::uint8_t {
  finite,  ///< A host may set finite numbers alone.
  any,     ///< The state of a training that has diverged may have infinities and nans.
};

/// Returns the state that the named tensors hold.
/// @throws Error shape_mismatch, which names, after `subject`, the tensor that is missing, has
/// another type, is there twice or belongs to no state; invalid_data if "step" is negative or more
/// than 2^53, a number is not one of `numbers`, or a number is negative where the rule keeps no
/// negative ones.
actors::OptimizerTensors tensors_of(const graph::Plan& plan, const actors::UpdateRules& rules,
                                    std::span<const NamedTensor> named, const std::string& subject,
                                    StateNumbers numbers = StateNumbers::finite);

}  // namespace penstock
