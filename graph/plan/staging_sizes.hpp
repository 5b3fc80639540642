// Staging is how an IPU works on tensors that the host store keeps: the IPU copies a piece of each
// tensor into scratch memory, and back. An update stages in all of the IPU's scratch, which no
// program uses at that time. A program stages gradient sums in the workspaces of its instructions.
// All functions are pure.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// A StagedTensors describes tensors of one parameter that an update brings to the IPU together.
struct StagedTensors {
  std::int64_t elements = 0;  ///< Each tensor has this many elements, which are f32.
  std::int32_t tensors = 0;
  /// `in_pieces` says whether the elements may come in pieces; otherwise, all have to come at once.
  bool in_pieces = true;
};

/// Returns the least number of bytes of scratch in which an update can work on `staged`.
std::int64_t least_staging_bytes(const StagedTensors& staged);
/// Returns how many elements of each tensor come at a time if there are `scratch_bytes` bytes of
/// scratch, which must be no fewer than least_staging_bytes(). The result is a multiple of 16,
/// unless all elements come at once.
std::int64_t elements_at_once(const StagedTensors& staged, std::int64_t scratch_bytes);

/// A program adds to this many elements of a gradient sum at a time.
inline constexpr std::int64_t program_piece = 4096;
/// Returns how many bytes of scratch a program needs to stage a gradient sum of `elements`
/// elements.
std::int64_t program_staging_bytes(std::int64_t elements);

/// A StagedUpdate describes a parameter whose update works on tensors in the host store.
struct StagedUpdate {
  std::int64_t elements = 0;       ///< This many elements are updated.
  std::int32_t state_tensors = 0;  ///< The host store has this many state tensors.
  bool sum = false;                ///< `sum` says whether the host store has the gradient sums.
  bool elementwise = true;  ///< `elementwise` says whether the rule updates each element by itself.
  bool weight = false;      ///< `weight` says whether the host store has the parameter itself.
  /// If the rule needs the parameter's norm to update a shard of the parameter, `measured` is the
  /// number of elements of the whole parameter; otherwise it is 0.
  std::int64_t measured = 0;
};
/// Returns the tensors in the host store on which the rule works together.
StagedTensors rule_tensors(const StagedUpdate& update);
/// Returns the least number of bytes of scratch in which `update` can be done. The rule, the norm
/// of the gradient sum, which is taken in blocks, and the addition of two gradient sums each have
/// to fit.
std::int64_t update_staging_bytes(const StagedUpdate& update);

}  // namespace penstock::graph
