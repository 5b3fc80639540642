// A RowOperand is what a kernel reads along a row of results: an array, or one element that is
// repeated.
#pragma once

namespace penstock::graph {

struct RowOperand {
  const float* data;
  bool repeats;  ///< Says whether data[0] stands for every element.
};

}  // namespace penstock::graph
