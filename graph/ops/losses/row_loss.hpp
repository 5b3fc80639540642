// Losses with one term for each row of tensors [N,D]: what their shape rules and calls share.
// Attribute `reduction` as in reduction.hpp.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/rules/reduction.hpp"

namespace penstock::graph {

/// Checks that the first `count` inputs, called `names`, are f32 [N,D] of one shape.
void expect_rows(Types inputs, std::span<const std::string_view> names);

/// Writes a loss from its terms: without reduction these are it.
void reduce_terms(const Attributes& attributes, std::span<const float> terms, const Operand& loss);
/// Where such terms are worked out: in the loss itself without reduction, else in the workspace.
std::span<float> terms_of(const KernelCall& call, std::int64_t count);
/// As an op's `workspace`: room for a term per row of input 0.
std::int64_t terms_workspace(const Attributes& attributes, Types inputs, Types outputs);

}  // namespace penstock::graph
