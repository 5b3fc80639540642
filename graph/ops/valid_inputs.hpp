// Valid inputs: what an op's inputs may hold if it refuses some contents: labels that are classes,
// ids that are rows, lengths, probabilities. They serve whoever runs an op without a user's data.
// Pure.
#pragma once

#include <span>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Overwrites those inputs that `op` refuses with some contents by contents that it takes, and of
/// which it works on as much as there is room for; leaves the others as they are.
void make_valid(const Op& op, const Attributes& attributes, std::span<const Operand> inputs);

}  // namespace penstock::graph
