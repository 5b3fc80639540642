// Ops that move elements without computing with them share these functions. Such ops take tensors
// of any type.
#pragma once

#include <vector>

#include "graph/ir/op.hpp"
#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/values/element_type.hpp"

namespace penstock::graph {

/// Calls `move(x, y)` with pointers to the elements of input 0 and of output 0, which have the same
/// type.
void move_elements(const KernelCall& call, const auto& move) {
  const Operand &x = call.inputs[0], &y = call.outputs[0];
  with_element_type(y.type->dtype, [&]<class T>() {
    move(static_cast<const T*>(x.data), static_cast<T*>(y.data));
  });
}

/// Returns the type of the elements of x, the only input.
inline DType moved_type(Types in) {
  expect_inputs(in, 1, "x");
  return in[0].dtype;
}

}  // namespace penstock::graph
