// Staging: how an update works on tensors that are kept in the host store: it copies a piece of
// each of a parameter's tensors into the IPU's scratch memory, which no program uses at that time,
// and back. Pure.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Tensors of one parameter that an update brings to the IPU together.
struct StagedTensors {
  std::int64_t elements = 0;  ///< of each, f32
  std::int32_t tensors = 0;
  bool in_pieces = true;  ///< any number of elements at a time will do; else all at once
};

/// Scratch bytes that such an update cannot do without.
std::int64_t least_staging_bytes(const StagedTensors& staged);
/// Elements at a time, a multiple of 16 but for all of them, given at least so much scratch.
std::int64_t elements_at_once(const StagedTensors& staged, std::int64_t scratch_bytes);

}  // namespace penstock::graph
