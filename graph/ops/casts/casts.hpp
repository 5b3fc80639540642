#pragma once

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// Makes numbers of integers: y = x·scale + shift in f32, where x is u8, i32, i64 or bool and may
/// have any shape, and a true x counts as 1. The product and the sum are rounded one after the
/// other. The attributes scale and shift are 1 and 0 by default. If scale and shift are inputs 1
/// and 2 instead, f32 [C], each channel of x [N,C,...] has its own. No input has a gradient.
extern const Op to_float;
/// Widens integers: maps x, which is u8, i32 or bool and may have any shape, to i64.
extern const Op to_i64;
/// Maps x, f32 or i64, to i64 without the fractions. A negative number counts from the end of an
/// axis of the attribute `size`, which is added to it; 0 is the default. What i64 does not hold
/// becomes its largest number, which is no index. Nothing is checked before a call: the op that
/// takes the indices refuses those that are none.
extern const Op to_index;

}  // namespace penstock::graph
