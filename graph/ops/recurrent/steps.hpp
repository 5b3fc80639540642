// These classes are the loops over the steps of lstm, gru and rnn: the order in which the samples
// of a part take their steps, and the products that all samples share at a step.
#pragma once

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/recurrent/recurrence.hpp"

namespace penstock::graph {

/// Serve as Op::workspace of the ops and of their gradients.
std::int64_t recurrent_workspace(const Attributes& attributes, Types in, Types out);
std::int64_t recurrent_gradient_workspace(const Attributes& attributes, Types in, Types out);

/// A Walk has the samples of a part and the order of their steps. If there are lengths, a sample
/// takes as many steps as its length says.
class Walk {
 public:
  /// @throws Error invalid_data if a length is not from 0 to the number of steps.
  Walk(const KernelCall& call, const RecurrentSizes& sizes, const Operand* lengths);

  std::int64_t begin() const { return samples_.begin; }
  std::int64_t end() const { return samples_.end; }
  std::int64_t count() const { return samples_.end - samples_.begin; }
  /// Returns the number of steps that the longest sample takes.
  std::int64_t steps() const { return steps_; }
  std::int64_t length(std::int64_t sample) const {
    return lengths_ != nullptr ? lengths_[sample] : all_steps_;
  }
  /// Returns which row of a tensor [N,T,...] belongs to a sample's step number `step`, which is 0
  /// for the step that it takes first.
  std::int64_t row(std::int64_t sample, std::int64_t step) const {
    return sample * all_steps_ + (reverse_ ? length(sample) - 1 - step : step);
  }
  /// Writes 0 to the rows of `tensor` [N,T,...] for which the samples take no steps.
  void clear_rest(const Operand& tensor) const;

 private:
  Part samples_;
  std::int64_t all_steps_, steps_ = 0;
  const std::int64_t* lengths_;
  bool reverse_;
};

/// Returns where row `row` of a tensor begins, whose rows run along its last axis.
inline float* row_of(const Operand& tensor, std::int64_t row) {
  return static_cast<float*>(tensor.data) + row * tensor.shape()[-1];
}
/// Copies `from` to row `row` of `tensor`.
inline void put_row(const float* from, const Operand& tensor, std::int64_t row) {
  std::copy_n(from, tensor.shape()[-1], row_of(tensor, row));
}

/// A Step is one time step of the sample with the number `sample`. It computes row `row` of the
/// tensors [N,T,...]. `from_hidden` has what the hidden state adds to the gates.
struct Step {
  std::int64_t sample, row;
  const float* from_hidden;
};

/// A RecurrentForward has what the steps of a part share.
class RecurrentForward {
 public:
  RecurrentForward(const Recurrence& recurrence, const KernelCall& call);

  /// Calls `take(step)` for every step of every sample. The hidden state, output 1, and the cell
  /// state, output 2 if there is one, have the initial states at first, and `take` replaces them.
  void run(const auto& take) const {
    for (std::int64_t step = 0; step < walk_.steps(); ++step) {
      multiply();
      for (std::int64_t sample = walk_.begin(); sample < walk_.end(); ++sample)
        if (step < walk_.length(sample))
          take(Step{sample, walk_.row(sample, step),
                    sums_ + (sample - walk_.begin()) * sizes_.sums});
    }
  }

 private:
  void multiply() const;

  const KernelCall& call_;
  RecurrentInputs inputs_;
  RecurrentSizes sizes_;
  Walk walk_;
  float *factor_, *sums_, *product_;
};

/// A RecurrentGradients has those inputs of a gradient's node that it need not have. They are null
/// if there are none.
struct RecurrentGradients {
  const Operand *hidden, *cell, *lengths, *dy, *dh, *dc;

  RecurrentGradients(const Recurrence& recurrence, const KernelCall& call);
};

/// A StepBack is a step whose gradient is computed. Row `before` of the tensors [N,T,...] belongs
/// to the step before, and is negative if there is none. `dsums` is where the gradient of the sums
/// that come from the hidden state is written.
struct StepBack {
  std::int64_t sample, row, before;
  const float *dy, *old_hidden;
  float* dsums;
};

/// A RecurrentBackward has what the steps of a part share when the gradient is computed. The inputs
/// are y, the weight, what the op has saved, and the RecurrentGradients. The outputs are those that
/// emit_recurrent_gradient() describes.
class RecurrentBackward {
 public:
  RecurrentBackward(const Recurrence& recurrence, const KernelCall& call);

  /// Calls `take(step)` for every step of every sample, the last steps first. The gradients of the
  /// states behind the step are in outputs 2 and 3; `take` replaces them by those of the states
  /// before the step, except for what the gates contribute. The gradients of the sums become output
  /// number `sums`.
  void run(std::size_t sums, const auto& take) const {
    for (std::int64_t step = walk_.steps() - 1; step >= 0; --step) {
      for (std::int64_t sample = walk_.begin(); sample < walk_.end(); ++sample) {
        if (step >= walk_.length(sample)) continue;
        const StepBack back = step_back(sample, step);
        take(back);
        put_row(back.old_hidden, call_.outputs[1], back.row);
        put_row(back.dsums, call_.outputs[sums], back.row);
      }
      multiply();
    }
  }
  /// Returns the cell state before a step, where `cells` has those behind all steps.
  const float* old_cell(const StepBack& step, const Operand& cells) const {
    return before(step.sample, step.before, cells, inputs_.cell);
  }

 private:
  StepBack step_back(std::int64_t sample, std::int64_t step) const;
  const float* before(std::int64_t sample, std::int64_t row, const Operand& all,
                      const Operand* initial) const;
  void multiply() const;

  const KernelCall& call_;
  RecurrentGradients inputs_;
  RecurrentSizes sizes_;
  Walk walk_;
  float *factor_, *dsums_, *zeros_, *product_;
};

}  // namespace penstock::graph
