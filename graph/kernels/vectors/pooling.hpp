// Pooling holds the sizes of a pooling, which are the same for all planes.
#pragma once

#include <cstdint>

namespace penstock::graph {

struct Pooling {
  std::int64_t planes;  ///< Is samples · channels or, with lanes, blocks · channels.
  std::int64_t height, width, out_height, out_width;
  std::int64_t kernel_height, kernel_width;
  std::int64_t stride_height, stride_width;
  std::int64_t padding_height, padding_width;
};

}  // namespace penstock::graph
