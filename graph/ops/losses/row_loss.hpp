// Losses with one term for each row of tensors [N,D] share these rules and calls. The attribute
// `reduction` is that of reduction.hpp.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/rules/reduction.hpp"

namespace penstock::graph {

/// Checks that the first `count` inputs, called `names`, are f32 [N,D] of one shape.
void expect_rows(Types inputs, std::span<const std::string_view> names);

/// Writes a loss from its terms, which are the loss itself without reduction.
void reduce_terms(const Attributes& attributes, std::span<const float> terms, const Operand& loss);
/// Returns the place in which such terms are computed: the loss itself without reduction, and else
/// the workspace.
std::span<float> terms_of(const KernelCall& call, std::int64_t count);
/// Serves as an op's `workspace`, with room for a term per row of input 0.
std::int64_t terms_workspace(const Attributes& attributes, Types inputs, Types outputs);

}  // namespace penstock::graph
