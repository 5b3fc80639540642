// AlignmentKernels: what connectionist temporal classification needs of a sequence, a part of
// KernelTable. Declarations only, as sources of every instruction set include this.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// A sequence of log-probabilities [steps,classes] and the labels that it should spell.
struct LabelledSequence {
  std::int64_t steps, classes, blank;
  const float* log_probabilities;
  std::int64_t count;  ///< of labels
  const std::int64_t* labels;

  /// Blank, label, blank, label, ..., blank.
  std::int64_t states() const { return 2 * count + 1; }
};

/// Floats of workspace for sequences of up to `steps` steps and `count` labels.
constexpr std::int64_t alignment_workspace(std::int64_t steps, std::int64_t count) {
  return (steps + 8) * (2 * count + 3);
}

/// The sum is over all alignments: a class for each step so that the labels are left when
/// repetitions and then blanks are dropped (Graves et al., "Connectionist Temporal Classification",
/// section 4.1, in logarithms).
struct AlignmentKernels {
  /// Minus the logarithm of the alignments' probability; infinite if there is none.
  float (*loss)(const LabelledSequence&, float* workspace);
  /// dx [steps,classes] = factor times the loss's gradient: minus the probability that an alignment
  /// has that class at that step.
  void (*gradient)(const LabelledSequence&, float factor, float* workspace, float* dx);
};

}  // namespace penstock::graph
