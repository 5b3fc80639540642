#include "graph/kernels/losses/alignments.hpp"

#include "graph/kernels/vectors/logarithm.hpp"

namespace penstock::graph::PENSTOCK_ISA {
namespace {

constexpr float impossible = -__builtin_inff();
constexpr std::int64_t padding = AlignmentWorkspace::before;

/// Rows finds the rows of a workspace that is divided as AlignmentWorkspace says.
class Rows {
 public:
  Rows(const LabelledSequence& of, float* workspace)
      : stride_(alignment_workspace(of.steps, of.count).pitch), workspace_(workspace) {}
  float* operator[](std::int64_t row) const { return workspace_ + row * stride_ + padding; }
  /// Sets state 0 of a row to the log-probability 0 and all other states to impossible, and returns
  /// the row.
  float* start(std::int64_t row) const {
    float* const states = (*this)[row];
    for (std::int64_t s = -padding; s < stride_ - padding; ++s) states[s] = impossible;
    states[0] = 0;
    return states;
  }
  float* pad(std::int64_t row) const {
    float* const states = (*this)[row];
    states[-1] = states[-2] = impossible;
    return states;
  }

 private:
  std::int64_t stride_;
  float* workspace_;
};

/// These are the numbers of the rows that do not belong to a step of the sequence. The rows of the
/// steps follow from `forward` on.
enum Fixed : std::int64_t { skip, emission, skip_back, emission_back, back, back_next, forward };
static_assert(forward == AlignmentWorkspace::fixed);

/// Returns the class of state `s`: label number `s / 2` if `s` is odd, and otherwise the blank.
std::int64_t class_of(const LabelledSequence& of, std::int64_t s) {
  return s % 2 == 1 ? of.labels[s / 2] : of.blank;
}

/// Writes skips[s] for every state `s`: 0 if state `s` may directly follow state `s` - 2, and
/// `impossible` otherwise.
void find_skips(const LabelledSequence& of, float* skips) {
  for (std::int64_t s = 0; s < of.states(); ++s)
    skips[s] = s % 2 == 1 && s > 1 && of.labels[s / 2] != of.labels[s / 2 - 1] ? 0.0f : impossible;
}

void find_emissions(const LabelledSequence& of, std::int64_t step, float* emissions) {
  const float* const row = of.log_probabilities + step * of.classes;
  for (std::int64_t s = 0; s < of.states(); ++s) emissions[s] = row[class_of(of, s)];
}

/// Computes to[s] = log(exp(from[s]) + exp(from[s-1]) + exp(from[s-2] + skips[s])) + emissions[s].
/// All three exponentials are divided by the largest, which becomes 1. The two others are summed by
/// themselves, because they may be too small to change 1 when they are added to it.
void advance(std::int64_t states, const float* from, const float* skips, const float* emissions,
             float* to) {
  for_each_element(states, [=](std::int64_t s) {
    const float a = from[s], b = from[s - 1], c = from[s - 2] + skips[s];
    const float low = a > b ? b : a, two = a > b ? a : b;
    const float middle = two > c ? c : two, peak = two > c ? two : c;
    const float base = peak == impossible ? 0.0f : peak;
    const float others =
        exponential_of_negative(low - base) + exponential_of_negative(middle - base);
    to[s] = logarithm_of_one_and(others) + peak + emissions[s];
  });
}

/// Returns the loss, given the log-probabilities of the states after the last step. An alignment
/// that spells all labels ends in one of the last two states: the last label or the blank behind
/// it.
float loss_of(const LabelledSequence& of, const float* states) {
  const float a = states[of.states() - 1], b = states[of.states() - 2];
  const float low = a > b ? b : a, peak = a > b ? a : b;
  if (peak == impossible) return -impossible;
  return -(peak + logarithm_of_one_and(exponential_of_negative(low - peak)));
}

float loss(const LabelledSequence& of, float* workspace) {
  const Rows rows(of, workspace);
  find_skips(of, rows[skip]);
  const float* states = rows.start(forward);
  for (std::int64_t t = 0; t < of.steps; ++t) {
    find_emissions(of, t, rows[emission]);
    float* const next = rows.pad(forward + (t + 1) % 2);
    advance(of.states(), states, rows[skip], rows[emission], next);
    states = next;
  }
  return loss_of(of, states);
}

void reverse(std::int64_t count, const float* from, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[count - 1 - i];
}

/// Adds to `dx`, at the class of each state, -factor times the probability that an alignment is in
/// that state at step `step`.
void add_probabilities(const LabelledSequence& of, const Rows& rows, std::int64_t step,
                       const float* from_end, float loss, float factor, float* dx) {
  const std::int64_t states = of.states();
  const float *before = rows[forward + step + 1], *emissions = rows[emission];
  for (std::int64_t s = 0; s < states; ++s) {
    const float both = before[s] + from_end[states - 1 - s];
    if (both != impossible) dx[class_of(of, s)] -= factor * exponential(both - emissions[s] + loss);
  }
}

void gradient(const LabelledSequence& of, float factor, float* workspace, float* dx) {
  const Rows rows(of, workspace);
  const std::int64_t states = of.states();
  find_skips(of, rows[skip]);
  rows.start(forward);
  for (std::int64_t t = 0; t < of.steps; ++t) {
    find_emissions(of, t, rows[emission]);
    advance(states, rows[forward + t], rows[skip], rows[emission], rows.pad(forward + t + 1));
  }
  const float total = loss_of(of, rows[forward + of.steps]);
  for (std::int64_t i = 0; i < of.steps * of.classes; ++i) dx[i] = 0;
  // The second pass goes from the end of the sequence to its beginning, with the states in reverse
  // order.
  for (std::int64_t s = 0; s < states; ++s)
    rows[skip_back][s] = s > 1 ? rows[skip][states + 1 - s] : impossible;
  const float* from_end = rows.start(back);
  for (std::int64_t t = of.steps; t-- > 0;) {
    find_emissions(of, t, rows[emission]);
    reverse(states, rows[emission], rows[emission_back]);
    float* const next = rows.pad((of.steps - t) % 2 == 1 ? back_next : back);
    advance(states, from_end, rows[skip_back], rows[emission_back], next);
    from_end = next;
    add_probabilities(of, rows, t, from_end, total, factor, dx + t * of.classes);
  }
}

}  // namespace

extern const AlignmentKernels alignment_kernels;
const AlignmentKernels alignment_kernels{.loss = loss, .gradient = gradient};

}  // namespace penstock::graph::PENSTOCK_ISA
