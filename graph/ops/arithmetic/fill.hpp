#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Makes a tensor of one number. The op has no inputs. The attributes are `shape` (integers),
/// `value` (real) and `loss_scaled` (0 by default), which multiplies the value by the run's loss
/// scale, as where backward begins.
extern const Op fill;

}  // namespace penstock::graph
