// The rules by which nodes are folded, by what they do.
#pragma once

#include <span>

#include "engine/onnx/folding/fold_call.hpp"

namespace penstock {

/// Returns the rules of operators that move elements, such as Gather.
std::span<const FoldRule> movement_rules();
/// Returns the rules of operators that compute element by element, or reduce axes.
std::span<const FoldRule> arithmetic_rules();
/// Returns the rules of operators that make tensors from sizes, such as Range.
std::span<const FoldRule> generation_rules();

}  // namespace penstock
