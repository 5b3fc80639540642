// These are the rounds of a weight update, in their order. All stages do a round at the same time,
// each on its StageUpdate and on the thread of its IPU, which may share the work on large
// parameters with other threads. No round allocates memory, so that an update that has begun cannot
// fail for lack of memory.
#pragma once

#include <span>

#include "actors/update/pieces.hpp"
#include "actors/update/stage_update.hpp"
#include "actors/update/staging_buffer.hpp"
#include "actors/update/update_round.hpp"
#include "graph/plan/sharing.hpp"

namespace penstock::actors {

/// A RoundRun is what one stage works with when it runs a round.
struct RoundRun {
  StageUpdate& update;
  const StagingBuffer& staging;
  /// Unless this is null, it shares the work on large parameters.
  graph::PartRunner* runner = nullptr;
  double clip_factor = 1;  ///< Gradients are multiplied by this factor if the rules clip.
  /// These are the squared norms of the directions along which the weights move, in the order of
  /// Plan::variables. Only an `apply` after `follow` needs them.
  std::span<const double> directions = {};
};

/// Adds up the gradients of all replicas: this replica's shards of sharded parameters, and this
/// replica's slice of the total of all other parameters.
void reduce_gradients(const RoundRun& run);

/// Measures the norms of the gradients: of this replica's shards of sharded parameters and, in the
/// first replica, of all other parameters.
void measure_gradients(const RoundRun& run, UpdateNorms& norms);

/// Does the first step of rules with norms for this replica's shards, and measures the norms of the
/// weights and of the directions along which they move.
void follow_gradients(const RoundRun& run, UpdateNorms& norms);

/// An ApplyRound moves the weights by the rules.
class ApplyRound {
 public:
  explicit ApplyRound(const RoundRun& run);
  void run();

 private:
  graph::Hyper hyper_of(const TrainedVariable& trained) const;
  void update_variable(const TrainedVariable& trained);
  void update_piece(const TrainedVariable& trained, const Piece& piece);
  void update_elements(const TrainedVariable& trained, const Piece& piece);
  graph::Sharing sharing(const TrainedVariable& trained, std::int64_t elements) const;
  /// Updates a whole parameter whose rule has norms: does the first step of the rule block by
  /// block, and then the second step.
  void update_by_norms(const TrainedVariable& trained, const Piece& piece);
  /// Moves the weights of this replica's shard by the directions that the first step of their rule
  /// has found.
  void move_shard(const TrainedVariable& trained);
  /// Does the same for the weights of `piece`.
  void move(const TrainedVariable& trained, const Piece& piece, double squared_weights,
            double squared_directions);

  const RoundRun& run_;
  StageUpdate& update_;
  const StagingBuffer& staging_;
  Pieces pieces_;
  double rate_factor_;  // This is the learning rate schedule's factor for this update.
};

/// Counts the other replicas' shards of the new weights as gathered, and writes the copies that
/// other stages have of sharded parameters. The replicas share the memory of the weights, so that
/// nothing else is copied. Before that, every replica has finished the round `apply`.
void gather_weights(const RoundRun& run);

/// Does the first step of the rule of `trained` for `block`, which is no larger than a block of the
/// norm. Returns the squared norm of the direction along which the block's weights move.
double follow_block(const RoundRun& run, const TrainedVariable& trained, const Piece& block);

}  // namespace penstock::actors
