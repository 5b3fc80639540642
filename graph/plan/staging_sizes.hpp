// Staging is how an IPU works on tensors that the host store keeps: it copies a piece of each
// tensor into scratch memory, and back. An update takes all of scratch, which no program uses at
// that time; a program adds to gradient sums in its workspace. All functions are pure.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Are tensors of one parameter that an update brings to the IPU together.
struct StagedTensors {
  std::int64_t elements = 0;  ///< Counts the elements of each tensor, which are f32.
  std::int32_t tensors = 0;
  /// Says whether any number of elements at a time will do; else all have to come at once.
  bool in_pieces = true;
};

/// Returns how many bytes of scratch such an update cannot do without.
std::int64_t least_staging_bytes(const StagedTensors& staged);
/// Returns how many elements come at a time if there are at least `scratch_bytes` bytes of scratch.
/// It is a multiple of 16, unless it is all elements.
std::int64_t elements_at_once(const StagedTensors& staged, std::int64_t scratch_bytes);

/// A program adds to this many elements of a gradient sum at a time.
inline constexpr std::int64_t program_piece = 4096;
/// Returns the bytes of scratch for a gradient sum of `elements` elements.
std::int64_t program_staging_bytes(std::int64_t elements);

/// Describes a parameter whose update works on tensors in the host store.
struct StagedUpdate {
  std::int64_t elements = 0;
  std::int32_t state_tensors = 0;
  bool sum = false;         ///< Says whether the host store has the gradient sums, too.
  bool elementwise = true;  ///< Says whether the rule updates each element by itself.
  bool weight = false;      ///< Says whether the host store has the parameter itself, too.
  /// Counts the elements of the whole parameter if the rule needs its norm to update a shard of it;
  /// else 0.
  std::int64_t measured = 0;
};
/// Returns the tensors that the rule works on together.
StagedTensors rule_tensors(const StagedUpdate& update);
/// Returns how many bytes of scratch an update cannot do without: for the rule, for the norm of the
/// sum, which is taken in blocks, and for adding two sums.
std::int64_t update_staging_bytes(const StagedUpdate& update);

}  // namespace penstock::graph
