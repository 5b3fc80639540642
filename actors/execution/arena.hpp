// An Arena is the memory of one stage of one replica, allocated once: weights and, in inference,
// what is computed of them once for all micro-batches, gradient sums, rings of stash slots, of
// outputs and of gradients to send back, and the tensors that other stages have sent. The replicas
// share the weights and what is computed of them. The stage's actor, its optimizer and its IPU
// share the arena, and their messages say whose turn it is. The IPU has the arena while a program
// runs. The optimizer has it from the stage's last backward of a window until it tells the stage
// that the weights are ready.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "actors/execution/tensor_list.hpp"
#include "graph/plan/program.hpp"
#include "penstock/report.hpp"
#include "penstock/tensor.hpp"
#include "penstock/trace.hpp"

namespace penstock::actors {

/// A ProgramRun says which program of a stage is run, for which micro-batch, and with which memory,
/// numbers and threads.
struct ProgramRun {
  Direction direction = Direction::forward;
  std::int64_t micro_batch = 0;  ///< Micro-batches are counted from the pipeline's first.
  std::int64_t summed = 0;       ///< The gradient sums have this many micro-batches.
  /// This is the key of random numbers, except for the name of the op.
  graph::RandomKey random = {};
  float loss_scale = 1;          ///< This is the gradient of the loss with respect to itself.
  std::byte* scratch = nullptr;  ///< This is the scratch memory of the IPU.
  /// This has copies, on the IPU, of the weights that the host store keeps.
  std::byte* weight_room = nullptr;
  graph::PartRunner* runner = nullptr;    ///< If this is null, the calling thread does all work.
  graph::Heartbeat* heartbeat = nullptr;  ///< Unless this is null, it beats with each instruction.
};

class Arena {
 public:
  /// Makes the memory of stage number `stage` of `plan`, for at most `live` consecutive
  /// micro-batches at any time. Unless `first` is null, it is the arena of the same stage in
  /// another replica, and the two arenas share the memory of the parameters and of the results of
  /// the program `prepare`.
  Arena(std::shared_ptr<const graph::Plan> plan, std::size_t stage, std::int64_t live,
        const Arena* first = nullptr);

  const graph::StagePlan& stage() const { return plan_->stages[stage_]; }
  std::size_t number() const { return stage_; }

  /// Keeps `tensor`, which an edge has brought for `micro_batch`, until release(). `position`
  /// counts the stage's forward_receives first, and then its backward_receives.
  void receive(std::size_t position, std::int64_t micro_batch, Tensor tensor);
  void release(std::int64_t micro_batch);

  /// Runs a program of the stage, and before it, if the weights have changed, the program that
  /// prepares what depends on them. All blocks of the host store that the program needs must have
  /// been lent before, and the weights of such a block must have been copied to
  /// ProgramRun::weight_room.
  void run(const ProgramRun& run);

  /// Makes run() measure from now on how long each instruction takes, in the programs of one
  /// micro-batch of every four. This function is called before the first run().
  void time_programs();
  /// Returns the times that run() has measured, and begins anew. The host's thread may call this
  /// function while no call is under way.
  graph::StageProgramTimes take_program_times();

  /// Returns the tensor that edge forward_sends[position] carries. The tensor is empty if the edge
  /// carries none.
  const Tensor& sends_forward(std::size_t position, std::int64_t micro_batch) const;
  /// Returns the tensor that edge backward_sends[position] carries. The tensor is empty if the edge
  /// carries none.
  const Tensor& sends_back(std::size_t position, std::int64_t micro_batch) const;
  /// Returns the stage's outputs for the host, in the order of StagePlan::outputs.
  const TensorList& outputs(std::int64_t micro_batch) const;

  /// Returns the elements of variables[k], on the IPU or in the host store's block.
  std::span<float> variable(std::size_t k);
  /// Returns the gradient sum at `home` of a variable with `elements` elements, on the IPU or in
  /// the host store's block.
  std::span<float> accumulator(const graph::Location& home, std::int64_t elements);
  std::span<std::byte> accumulators();
  /// Returns the gradient sums that the host store keeps. The result is empty if there are no such
  /// sums, or while the host store has them.
  std::span<std::byte> host_accumulators();
  // The stage borrows the gradient sums that the host store keeps. The arena has them from the
  // first backward of a window, at the latest, until the stage's update. A new arena has them, too.
  std::shared_ptr<std::byte> return_host_accumulators() { return std::move(host_accumulators_); }
  void lend_host_accumulators(std::shared_ptr<std::byte> sums) {
    host_accumulators_ = std::move(sums);
  }
  bool has_host_accumulators() const { return host_accumulators_ != nullptr; }
  /// Returns the counts of the gradient sums that programs and updates have copied from and to the
  /// host store's memory.
  OffloadReport& accumulator_moves() { return moves_.accumulators; }

  // The stage borrows the weights that the host store keeps. The arena has them from the first
  // program of a window until the stage's update. A new arena has them, too.
  std::shared_ptr<std::byte> return_host_weights() { return std::move(host_weights_); }
  void lend_host_weights(std::shared_ptr<std::byte> weights) { host_weights_ = std::move(weights); }
  bool has_host_weights() const { return host_weights_ != nullptr; }
  /// Returns a number that changes whenever the weights change.
  std::int64_t weight_version() const { return weight_version_; }
  /// Notes that the weights have changed. Whoever changes weights through variable() calls this
  /// function.
  void weights_changed() { ++weight_version_; }
  /// Copies the weights that the host store keeps to `weight_room`, where the stage's programs read
  /// them. Unless `heartbeat` is null, it beats with each tensor.
  void bring_weights(std::byte* weight_room, graph::Heartbeat* heartbeat = nullptr);
  /// Returns the counts of the copies that were made, for programs and updates, of the weights that
  /// the host store keeps.
  OffloadReport& weight_moves() { return weight_moves_; }

  // The host store keeps a part of a micro-batch's stash from the end of the micro-batch's forward
  // until its backward. At any other time, the arena has that part.
  std::shared_ptr<std::byte> return_host_stash(std::int64_t micro_batch) {
    return std::move(host_stash_[slot(micro_batch, host_stash_.size())]);
  }
  void lend_host_stash(std::int64_t micro_batch, std::shared_ptr<std::byte> stash) {
    host_stash_[slot(micro_batch, host_stash_.size())] = std::move(stash);
  }
  bool has_host_stash(std::int64_t micro_batch) const {
    return host_stash_[slot(micro_batch, host_stash_.size())] != nullptr;
  }
  /// Returns the counts of the activations, from this stage's stash and from the stashes of other
  /// stages, that the stage's programs have copied from and to the host store's memory.
  const OffloadReport& activation_moves() const { return moves_.activations; }

  // The host's thread may call read_variable() and write_variable() while no call is under way,
  // wherever the weights are.

  /// Returns a copy of variables[k]. The copy of a buffer has the values at the time of the last
  /// keep_buffers(), so that all variables have had the same updates even if a later window has
  /// begun.
  Tensor read_variable(std::size_t k) const;
  /// Writes `value` to variables[k]. A parameter whose memory is that of the first replica's arena
  /// is written there alone, and this arena only notes that its weights have changed.
  void write_variable(std::size_t k, const Tensor& value);

  /// Keeps copies of the buffers, which every micro-batch changes, for read_variable(). The update
  /// that ends a window calls this function.
  void keep_buffers();

  /// Returns how many bytes are allocated for this stage on its IPU, not counting the IPU's
  /// scratch.
  std::int64_t bytes() const { return bytes_; }

 private:
  using Block = std::shared_ptr<std::byte>;
  /// A Preparation has the results of the program `prepare` for all replicas. Only plans for
  /// inference have that program. Their variables, buffers included, are equal in all replicas, and
  /// the host writes them in all replicas between two calls, so that the arenas' weight_version()s
  /// are equal while programs run.
  struct Preparation {
    /// The IPU whose replica needs the results first computes them with this mutex locked. The IPUs
    /// of other replicas wait as they would for their own results: the program sends no messages.
    std::mutex mutex;
    Block block;
    /// `block` was computed from the weights of this version; -1 says that it was never computed.
    std::int64_t version = -1;
  };
  Block allocate(std::int64_t bytes);
  std::size_t slot(std::int64_t micro_batch, std::size_t ring) const {
    return static_cast<std::size_t>(micro_batch) % ring;
  }
  /// Returns where the times of `run` are added up, or null if `run` is not timed.
  graph::ProgramTimes* times_of(const ProgramRun& run);
  /// Runs the program `prepare`, unless it has run for these weights, in this replica or another
  /// one.
  void prepare(const ProgramRun& run);
  void make_host_accumulators();
  void share_memory_of(const Arena& first);
  void make_shared_memory();
  void count_host_weights();
  void make_stash();
  /// Returns how many micro-batches have places in `space`, which is the stash, the host store's
  /// part of it, or the outputs.
  std::size_t slots_of(graph::Space space) const;
  /// Returns the tensor at `place`, which is in the stash, in the host store's part of it, or in
  /// the outputs, in slot number `slot`.
  Tensor tensor_at(const graph::TensorType& type, const graph::Location& place,
                   std::size_t slot) const;
  void count_transfers();
  void make_sent_back();
  std::byte* place_of(const graph::VariablePlan& variable) const;
  const std::byte* newest(std::size_t k) const;

  std::shared_ptr<const graph::Plan> plan_;
  std::size_t stage_;
  std::size_t live_;
  std::int64_t bytes_ = 0;
  bool shares_parameters_ = false;  // The parameters are in the memory of another arena.
  Block parameters_;
  Block buffers_;
  std::shared_ptr<Preparation> preparation_;
  Block accumulators_;
  Block host_accumulators_;
  Block host_weights_;        // This is null while the host store has the weights.
  Block host_weights_block_;  // This is the block of weights even while the host store has it.
  std::int64_t weight_version_ = 0;
  OffloadReport weight_moves_;
  graph::Moves moves_;
  // If this is true, programs copy from or to the host store's memory.
  bool programs_move_ = false;
  Block kept_;  // This has copies of buffers, each at its kept_offset.
  Block stash_;
  Block output_block_;
  std::vector<Block> host_stash_;  // There is one block for each stash slot.
  // These are the tensors at each position, for each slot in the ring of micro-batches.
  std::vector<std::vector<Tensor>> received_;
  // These are the tensors in each slot of the stash or of the outputs, for each position.
  std::vector<std::vector<Tensor>> sends_forward_;
  // These are the tensors in each slot of an edge's ring, for each position.
  std::vector<std::vector<Tensor>> sends_back_;
  std::vector<TensorList> outputs_;  // There is one list for each slot of the outputs.
  // These are the addresses of the tensors received for the run.
  std::vector<const std::byte*> received_at_;
  std::vector<std::byte*> sent_back_at_;
  bool times_programs_ = false;
  graph::StageProgramTimes times_;
};

}  // namespace penstock::actors
