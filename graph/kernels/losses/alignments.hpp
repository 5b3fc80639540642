// AlignmentKernels compute the loss of a sequence in connectionist temporal classification, and its
// gradient. They are a part of KernelTable. This header has declarations only, because sources of
// every instruction set include it.
#pragma once

#include <cstdint>

namespace penstock::graph {

/// A LabelledSequence is a sequence of log-probabilities [steps,classes], with the labels that it
/// should spell. Its steps are, for example, the points in time of an audio recording.
struct LabelledSequence {
  std::int64_t steps, classes, blank;
  const float* log_probabilities;
  std::int64_t count;  ///< This is the number of labels.
  const std::int64_t* labels;

  /// Returns the number of states. An alignment goes through states that stand for blank, first
  /// label, blank, second label, and so on; the last state stands for a blank.
  std::int64_t states() const { return 2 * count + 1; }
};

/// An AlignmentWorkspace says how the workspace of AlignmentKernels is divided into rows of `pitch`
/// floats. A row begins with `before` numbers that stand for impossible states; after them, it has
/// a number for every state. The first `fixed` rows belong to no step of the sequence; after them
/// come a row for the start and a row for each step. `end` is the number of floats of all rows.
struct AlignmentWorkspace {
  static constexpr std::int64_t before = 2, fixed = 6;
  std::int64_t pitch, end;
};
/// Returns how the workspace is divided for sequences of up to `steps` steps and `labels` labels.
static constexpr AlignmentWorkspace alignment_workspace(std::int64_t steps, std::int64_t labels) {
  const std::int64_t pitch = AlignmentWorkspace::before + 2 * labels + 1;
  return {pitch, pitch * (AlignmentWorkspace::fixed + steps + 1)};
}

/// These kernels sum over all alignments of a sequence. An alignment gives each step a class, such
/// that the labels are left when first repetitions and then blanks are dropped (Graves et al.,
/// "Connectionist Temporal Classification", section 4.1, in logarithms).
struct AlignmentKernels {
  /// Returns minus the logarithm of the probability of all alignments together, which is infinite
  /// if there is no alignment.
  float (*loss)(const LabelledSequence&, float* workspace);
  /// Computes `dx` [steps,classes], the gradient of the loss in the log-probabilities, times
  /// `factor`. The gradient at a step and a class is minus the probability that an alignment has
  /// this class at this step.
  void (*gradient)(const LabelledSequence&, float factor, float* workspace, float* dx);
};

}  // namespace penstock::graph
