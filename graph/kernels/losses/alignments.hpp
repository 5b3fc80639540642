// AlignmentKernels compute the loss of a sequence in connectionist temporal classification, and its
// gradient. They are a part of KernelTable. This header has declarations only, because sources of
// every instruction set include it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// Holds a sequence of log-probabilities [steps,classes] and the labels that it should spell.
struct LabelledSequence {
  std::int64_t steps, classes, blank;
  const float* log_probabilities;
  std::int64_t count;  ///< Counts the labels.
  const std::int64_t* labels;

  /// Returns the number of states: blank, label, blank, label, ..., blank.
  std::int64_t states() const { return 2 * count + 1; }
};

/// Says how the workspace is divided into rows of `pitch` floats. A row has a number for every
/// state, and `before` numbers in front of them that stand for impossible states. The first `fixed`
/// rows do not belong to a step, and the rows of the steps follow. The rows end at float `end`.
struct AlignmentWorkspace {
  static constexpr std::int64_t before = 2, fixed = 6;
  std::int64_t pitch, end;
};
/// Returns how the workspace is divided for sequences of up to `steps` steps and `labels` labels.
static constexpr AlignmentWorkspace alignment_workspace(std::int64_t steps, std::int64_t labels) {
  const std::int64_t pitch = AlignmentWorkspace::before + 2 * labels + 1;
  return {pitch, pitch * (AlignmentWorkspace::fixed + steps + 1)};
}

/// Compute sums over all alignments. An alignment is a class for each step such that the labels are
/// left when repetitions and then blanks are dropped (Graves et al., "Connectionist Temporal
/// Classification", section 4.1, in logarithms).
struct AlignmentKernels {
  /// Returns minus the logarithm of the probability of all alignments, which is infinite if there
  /// is none.
  float (*loss)(const LabelledSequence&, float* workspace);
  /// Computes dx [steps,classes] = factor times the gradient of the loss. The gradient at a class
  /// and a step is minus the probability that an alignment has this class at this step.
  void (*gradient)(const LabelledSequence&, float factor, float* workspace, float* dx);
};

}  // namespace penstock::graph
