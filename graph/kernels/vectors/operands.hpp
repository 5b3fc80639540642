// Kernels of several families take operands of the types in this header: Lines is a tensor seen as
// lines along one axis, Pooling has the sizes of planes that are pooled, and RowOperand is an array
// or one element that is repeated.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Lines are the lines of a row-major tensor [outer,length,inner] along its second axis. There are
/// outer·inner lines, and the elements of a line are `inner` floats apart in memory.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// A Pooling has the sizes of a pooling, which are the same for all planes.
struct Pooling {
  /// This is the number of samples, or in the batch-lane layout of blocks of samples, times
  /// channels.
  std::int64_t planes;
  std::int64_t height, width, out_height, out_width;
  std::int64_t kernel_height, kernel_width;
  std::int64_t stride_height, stride_width;
  std::int64_t padding_height, padding_width;
  /// The pixels of a window are this many rows and columns apart. An average takes 1 for granted.
  std::int64_t dilation_height = 1, dilation_width = 1;
  /// If this is true, an average counts the padding as zeros; otherwise it leaves the padding out.
  bool counts_padding = true;
};

/// A RowOperand is what a kernel reads along a row of results: an array with an element for each
/// result, or one element for all results.
struct RowOperand {
  const float* data;
  bool repeats;  ///< If this is true, data[0] stands for every element.
};

}  // namespace penstock::graph
