// An arena is the memory of one stage of one replica, allocated once: weights, gradient sums, a
// ring of stash slots, rings of gradients to send back, and what neighbours have sent. The stage's
// actor, its optimizer and its IPU share it and take turns by protocol: the IPU has it while a
// program runs, the optimizer between the stage's last backward of a window and its answer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "actors/execution/tensor_list.hpp"
#include "graph/plan/program.hpp"
#include "penstock/report.hpp"
#include "penstock/tensor.hpp"
#include "penstock/trace.hpp"

namespace penstock::actors {

/// Says which program of a stage is run, for which micro-batch, and with what.
struct ProgramRun {
  Direction direction = Direction::forward;
  std::int64_t micro_batch = 0;           ///< Is counted from the beginning of the run.
  std::int64_t summed = 0;                ///< Counts the micro-batches in the gradient sums.
  graph::RandomKey random = {};           ///< Lacks only the names of the ops.
  float loss_scale = 1;                   ///< Is what the gradient of the loss starts with.
  std::byte* scratch = nullptr;           ///< Has the scratch bytes of the plan.
  std::byte* weight_room = nullptr;       ///< Holds the weights that the host store has lent.
  graph::PartRunner* runner = nullptr;    ///< If it is null, the calling thread does all work.
  graph::Heartbeat* heartbeat = nullptr;  ///< Beats with each instruction, if it is not null.
};

class Arena {
 public:
  /// Holds stage `stage` of `plan`, for at most `live` consecutive micro-batches at any time.
  Arena(std::shared_ptr<const graph::Plan> plan, std::size_t stage, std::int64_t live);

  const graph::StagePlan& stage() const { return plan_->stages[stage_]; }
  std::size_t number() const { return stage_; }

  /// Keeps what an edge brought until release(); `position` as in graph::Space::received.
  void receive(std::size_t position, std::int64_t micro_batch, Tensor tensor);
  void release(std::int64_t micro_batch);

  /// Runs a program of the stage, which needs what the host store keeps for it to be lent, and the
  /// weights among that in the run's room for weights.
  void run(const ProgramRun& run);

  /// Makes run() measure from now on how long each instruction takes, in the programs of one
  /// micro-batch of every four. It is called before the first run.
  void time_programs();
  /// Returns what was measured, and begins anew. The host's thread may call it while no call is
  /// under way.
  graph::StageProgramTimes take_program_times();

  /// Returns what forward_sends[position] carries, or an empty tensor if the edge has none.
  const Tensor& sends_forward(std::size_t position, std::int64_t micro_batch) const;
  /// Returns what backward_sends[position] carries, or an empty tensor if the edge has none.
  const Tensor& sends_back(std::size_t position, std::int64_t micro_batch) const;
  /// Returns the stage's outputs for the host, in the order of StagePlan::outputs.
  const TensorList& outputs(std::int64_t micro_batch) const;

  /// Returns the elements of variables[k], on the IPU or in the host store's block.
  std::span<float> variable(std::size_t k);
  /// Returns the gradient sum at `home` of a variable with `elements` elements, on the IPU or in
  /// the host store's block.
  std::span<float> accumulator(const graph::Location& home, std::int64_t elements);
  std::span<std::byte> accumulators();
  /// Returns an empty span if there are none, or while they are elsewhere.
  std::span<std::byte> host_accumulators();
  // The stage borrows gradient sums that the host store keeps, from the first backward of a window
  // until its update. At first they are here.
  std::shared_ptr<std::byte> return_host_accumulators() { return std::move(host_accumulators_); }
  void lend_host_accumulators(std::shared_ptr<std::byte> sums) {
    host_accumulators_ = std::move(sums);
  }
  bool has_host_accumulators() const { return host_accumulators_ != nullptr; }
  /// Returns what programs and updates have copied of these sums.
  OffloadReport& accumulator_moves() { return moves_.accumulators; }

  // The stage borrows weights that the host store keeps, from the first program of a window until
  // its update. At first they are here.
  std::shared_ptr<std::byte> return_host_weights() { return std::move(host_weights_); }
  void lend_host_weights(std::shared_ptr<std::byte> weights) { host_weights_ = std::move(weights); }
  bool has_host_weights() const { return host_weights_ != nullptr; }
  /// Returns another number after the weights have changed.
  std::int64_t weight_version() const { return weight_version_; }
  /// Whoever changes the weights through variable() calls this.
  void weights_changed() { ++weight_version_; }
  /// Copies the weights to where the stage's programs expect them. `heartbeat` beats with each.
  void bring_weights(std::byte* weight_room, graph::Heartbeat* heartbeat = nullptr);
  /// Returns what has been copied of the weights, for programs and updates.
  OffloadReport& weight_moves() { return weight_moves_; }

  // The host store keeps a part of a micro-batch's stash from forward to backward. Otherwise that
  // is here.
  std::shared_ptr<std::byte> return_host_stash(std::int64_t micro_batch) {
    return std::move(host_stash_[slot(micro_batch, host_stash_.size())]);
  }
  void lend_host_stash(std::int64_t micro_batch, std::shared_ptr<std::byte> stash) {
    host_stash_[slot(micro_batch, host_stash_.size())] = std::move(stash);
  }
  bool has_host_stash(std::int64_t micro_batch) const {
    return host_stash_[slot(micro_batch, host_stash_.size())] != nullptr;
  }
  /// Returns what programs have copied of this stage's stash and of other stages'.
  const OffloadReport& activation_moves() const { return moves_.activations; }

  // The host's thread may call read_variable() and write_variable() while no call is under way,
  // wherever the weights are.

  /// Returns a copy. Of a buffer it is what keep_buffers() last found, so that all variables are
  /// those of one update even if a later window was begun.
  Tensor read_variable(std::size_t k) const;
  void write_variable(std::size_t k, const Tensor& value);

  /// The update that ends a window calls this: from here on, read_variable() gives the newest
  /// values of what is not trained but changed by every micro-batch.
  void keep_buffers();

  /// Returns what is allocated for this stage on its IPU, without the IPU's scratch.
  std::int64_t bytes() const { return bytes_; }

 private:
  using Block = std::shared_ptr<std::byte>;
  Block allocate(std::int64_t bytes);
  std::size_t slot(std::int64_t micro_batch, std::size_t ring) const {
    return static_cast<std::size_t>(micro_batch) % ring;
  }
  /// Returns where the times of a run are added up; null if the run is not timed.
  graph::ProgramTimes* times_of(const ProgramRun& run);
  void make_host_accumulators();
  void make_host_weights();
  void make_stash();
  void count_transfers();
  void make_sent_back();
  std::byte* place_of(const graph::VariablePlan& variable) const;
  const std::byte* newest(std::size_t k) const;

  std::shared_ptr<const graph::Plan> plan_;
  std::size_t stage_;
  std::size_t live_;
  std::int64_t bytes_ = 0;
  Block parameters_;
  Block accumulators_;
  Block host_accumulators_;
  Block host_weights_;        // Is null while the host store has the block.
  Block host_weights_block_;  // Is the same block, wherever it is.
  std::int64_t weight_version_ = 0;
  OffloadReport weight_moves_;
  graph::Moves moves_;
  bool programs_move_ = false;  // Says whether programs copy anything; otherwise they do not count.
  Block kept_;                  // Has copies of buffers, each at its kept_offset.
  Block stash_;
  std::vector<Block> host_stash_;  // Is numbered by stash slot.
  // Is numbered by ring of micro-batches, then by position.
  std::vector<std::vector<Tensor>> received_;
  std::vector<std::vector<Tensor>> sends_forward_;  // Is numbered by stash slot, then by position.
  // Is numbered by position, then by ring of the edge.
  std::vector<std::vector<Tensor>> sends_back_;
  std::vector<TensorList> outputs_;            // Is numbered by stash slot.
  std::vector<const std::byte*> received_at_;  // Is bound anew for every run.
  std::vector<std::byte*> sent_back_at_;
  bool times_programs_ = false;
  graph::StageProgramTimes times_;
};

}  // namespace penstock::actors
