// An OutputCollector makes the results of a call from the outputs of its micro-batches. It does not
// use CAF. Along dimension 0 of a result, the output's selected micro-batches are in the order of
// device iterations, then of accumulation steps, and then of replicas.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/execution/block_pool.hpp"
#include "actors/execution/pipeline_setup.hpp"
#include "actors/host/answer.hpp"

namespace penstock::actors {

/// Returns for how many of a replica's `micro_batches` micro-batches a call returns an output. A
/// sum counts as one micro-batch.
std::int64_t count_returned(const OutputSelection& selection, std::int64_t micro_batches);
/// Returns whether a call of `micro_batches` micro-batches per replica returns the output of its
/// micro-batch number `number`, counted from 0, or a sum that this micro-batch completes.
bool is_returned(const OutputSelection& selection, std::int64_t number, std::int64_t micro_batches);

/// Returns the type of what a call of `micro_batches` micro-batches per replica returns for an
/// output of type `one`. Dimension 0 is multiplied by the number of returned micro-batches; a
/// scalar becomes [number], or [] if the number is 1.
graph::TensorType returned_type(const graph::TensorType& one, const OutputSelection& selection,
                                std::int64_t micro_batches, std::int64_t replicas);

class OutputCollector {
 public:
  explicit OutputCollector(std::shared_ptr<const PipelineSetup> setup);

  /// Begins a call of `micro_batches` micro-batches per replica.
  void begin(std::int64_t micro_batches);
  /// Returns whether the results of the call take elements of output number `output` of the
  /// micro-batch `number`; the call's micro-batches are counted from 0.
  bool takes(std::size_t output, std::int64_t number) const;
  /// Adds `tensor`, which is output number `output` of the micro-batch `number` of `replica`; the
  /// call's micro-batches are counted from 0. Outputs may come in any order, except that the
  /// micro-batches of one output come in their order within a replica.
  /// @throws Error internal if the micro-batch is not that of next().
  void add(std::size_t output, std::int64_t replica, std::int64_t number, const Tensor& tensor);
  /// Returns which micro-batch of `replica` comes next of output number `output`; the call's
  /// micro-batches are counted from 0.
  std::int64_t next(std::size_t output, std::int64_t replica) const {
    return counts_[place_of(output, replica)];
  }
  /// Leaves out the last `micro_batches` micro-batches of each replica: the call has not begun
  /// them, and returns nothing for them.
  void leave_out(std::int64_t micro_batches);
  bool complete() const { return missing_ == 0; }
  /// Returns whether all outputs of the first `micro_batches` micro-batches of each replica have
  /// come.
  bool has_all_of(std::int64_t micro_batches) const;
  /// Takes over the call of `failed`, a collector for the same plan whose call has failed, and goes
  /// on with it behind the first `micro_batches` micro-batches of each replica, which are at least
  /// one whole window of training. All outputs of these have come to `failed`; what has come of
  /// later ones is forgotten.
  void go_on_with(OutputCollector&& failed, std::int64_t micro_batches);
  /// Returns the results of the call, once complete() is true. The collector keeps them until the
  /// next call begins, because the call may fail although it has been answered.
  StepOutcome outcome() const;

 private:
  struct Result {
    OutputSelection selection = {};
    graph::TensorType type = {};
    std::shared_ptr<std::byte> memory = {};
    /// For a sum in training, this has what `memory` had before the window that each replica is in.
    /// It is null for every other result.
    std::shared_ptr<std::byte> before_window = {};
  };
  double mean_loss() const;
  /// Returns how many outputs `micro_batches` micro-batches of each replica have.
  std::int64_t outputs_of(std::int64_t micro_batches) const {
    return micro_batches * setup_->replicas * static_cast<std::int64_t>(results_.size());
  }
  /// Makes the sum of `replica` in `result`, if that is a sum, what it was before the window that
  /// the replica is in.
  void forget_window(const Result& result, std::int64_t replica) const;
  std::int64_t position(const OutputSelection& selection, std::int64_t replica,
                        std::int64_t number) const;
  /// Returns how many micro-batches of `replica` have come of output number `output`.
  std::int64_t& count_of(std::size_t output, std::int64_t replica) {
    return counts_[place_of(output, replica)];
  }
  std::size_t place_of(std::size_t output, std::int64_t replica) const {
    return output * static_cast<std::size_t>(setup_->replicas) + static_cast<std::size_t>(replica);
  }

  std::shared_ptr<const PipelineSetup> setup_;
  BlockPool pool_;
  std::int64_t micro_batches_ = 0;
  std::int64_t missing_ = 0;
  // This has, output by output and replica by replica, how many micro-batches have come.
  std::vector<std::int64_t> counts_;
  // This has the loss of every micro-batch, in the order of the data. It is empty if the model has
  // no loss.
  std::vector<double> losses_;
  std::vector<Result> results_;  // There is one result for each output.
};

}  // namespace penstock::actors
