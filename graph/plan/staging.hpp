// Staging: how an IPU works on tensors that are kept in the host store: it copies a piece of each
// into scratch memory, and back. An update takes all of scratch, which no program uses at that
// time; a program adds to gradient sums in its workspace. Pure.
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

/// Elements of a gradient sum that a program adds to at a time.
inline constexpr std::int64_t program_piece = 4096;
/// Scratch bytes for a sum of so many.
std::int64_t program_staging_bytes(std::int64_t elements);

/// A parameter of which an update works on tensors in the host store.
struct StagedUpdate {
  std::int64_t elements = 0;
  std::int32_t state_tensors = 0;
  bool sum = false;         ///< its gradient sums too
  bool elementwise = true;  ///< the rule updates each element by itself
  bool weight = false;      ///< the parameter itself too
  /// Of the whole parameter, if the rule needs its norm to update a shard of it; else 0.
  std::int64_t measured = 0;
};
/// What the rule works on together.
StagedTensors rule_tensors(const StagedUpdate& update);
/// Scratch bytes that an update cannot do without: for the rule, for the sum's norm, which is taken
/// in blocks, and for adding two sums.
std::int64_t update_staging_bytes(const StagedUpdate& update);

}  // namespace penstock::graph
