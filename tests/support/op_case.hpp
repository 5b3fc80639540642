// An op case is a list of ops that are applied one after the other, and the gradient that is sent
// back through them. Files describe op cases: tests/tools/random_op_cases.py draws the cases, and
// PyTorch computes their results.
#pragma once

#include <map>
#include <string>

#include "penstock/tensor.hpp"

namespace penstock::testing {

using NamedTensors = std::map<std::string, Tensor>;

/// Computes the case called `name`. Its description is JSON: "steps" is a list of objects with the
/// name of an "op", the names of its "inputs" and "outputs", and its "attributes"; "results" are
/// the values that are asked for, and the gradient of the first of them is given; "gradients" are
/// the inputs whose gradients are asked for. `tensors` has each input as "NAME.INPUT" and the
/// gradient of the first result as "NAME.gradient".
/// @returns each result as "NAME.RESULT" and each gradient as "NAME.gradient.INPUT".
/// @throws Error if an op refuses its inputs.
NamedTensors compute_op_case(const std::string& name, const std::string& description,
                             const NamedTensors& tensors);

}  // namespace penstock::testing
