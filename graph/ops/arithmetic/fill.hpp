#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// A tensor of one number. No inputs; attributes `shape` (integers), `value` (real) and
/// `loss_scaled` (0): times the run's loss scale, as where backward begins.
extern const Op fill;

}  // namespace penstock::graph
