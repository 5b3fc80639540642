// Kernels of several families take their operands in the forms of this header: a tensor as lines
// along an axis, a tensor as planes that are pooled, and an array or a repeated element along a
// row.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Is a row-major tensor [outer, length, inner]: the elements of a line are `inner` apart.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// Holds the sizes of a pooling, which are the same for all planes.
struct Pooling {
  std::int64_t planes;  ///< Is samples · channels or, with lanes, blocks · channels.
  std::int64_t height, width, out_height, out_width;
  std::int64_t kernel_height, kernel_width;
  std::int64_t stride_height, stride_width;
  std::int64_t padding_height, padding_width;
};

/// Is what a kernel reads along a row of results: an array, or one element for all results.
struct RowOperand {
  const float* data;
  bool repeats;  ///< Says whether data[0] stands for every element.
};

}  // namespace penstock::graph
