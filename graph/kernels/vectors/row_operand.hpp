// RowOperand: what a kernel reads along a row of results, element by element or again and again.
#pragma once

namespace penstock::graph {

struct RowOperand {
  const float* data;
  bool repeats;  ///< data[0] stands for every element
};

}  // namespace penstock::graph
