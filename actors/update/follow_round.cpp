#include <algorithm>
#include <functional>

#include "actors/update/rounds.hpp"

namespace penstock::actors {
namespace {

/// Does the rule's first step for this replica's shard, which is in `piece`, and sets `part` to the
/// shard's contribution to the norm of the direction.
void make_norm_part(const RoundRun& run, const TrainedVariable& trained, const Piece& piece,
                    graph::NormPart& part) {
  const graph::ParameterRule& rule = run.update.rule_of(trained);
  const auto block_of_piece = [&](const graph::Part& block) {
    const std::int64_t first = piece.elements.begin;
    return part_of(piece, {block.begin - first, block.end - first});
  };
  const auto squared_norm = [&](const graph::Part& block) {
    return follow_block(run, trained, block_of_piece(block));
  };
  const auto directions = [&](const graph::Part& block, float* to) {
    const Piece piece_of_block = block_of_piece(block);
    follow_block(run, trained, piece_of_block);
    rule.rule->in_shards->directions(rule.hyper, run.update.step + 1, piece_of_block.weight,
                                     piece_of_block.state, to);
  };
  // The lambdas are passed by reference, because a std::function would allocate memory for a lambda
  // with so many captures.
  graph::norm_part(trained.share, trained.elements(),
                   {std::cref(squared_norm), std::cref(directions)}, part);
}

// The norm is added up over its blocks, in the order of the blocks, as graph::squared_norm() does.
double squared_norm_of_weight(const RoundRun& run, const TrainedVariable& trained) {
  double squared = 0;
  for (std::int64_t begin = 0; begin < trained.elements(); begin += graph::norm_block) {
    const std::int64_t count = std::min(graph::norm_block, trained.elements() - begin);
    const std::span<float> here = run.update.weight(trained, {begin, begin + count});
    squared += graph::squared_norm(
        trained.weight_on_host()
            ? run.staging.load(0, here.data(), count, run.update.arena->weight_moves())
            : here);
    run.staging.beat();
  }
  return squared;
}

}  // namespace

double follow_block(const RoundRun& run, const TrainedVariable& trained, const Piece& block) {
  const graph::ParameterRule& rule = run.update.rule_of(trained);
  const double squared_norm = rule.rule->in_shards->follow(
      rule.hyper, run.update.step + 1, block.weight, block.gradient, block.state);
  run.staging.beat();
  return squared_norm;
}

void follow_gradients(const RoundRun& run, UpdateNorms& norms) {
  const Pieces pieces(run.update, run.staging, run.clip_factor);
  for (TrainedVariable& trained : run.update.trained) {
    if (!run.update.moves_in_shards(trained)) continue;
    run.update.applying = true;
    // The other replicas change the weight in the round `apply`.
    trained.squared_weight = squared_norm_of_weight(run, trained);
    const Piece piece = pieces.bring(trained, trained.share);
    make_norm_part(run, trained, piece, norms.shards[trained.shard_norm].part);
    pieces.put_back(trained, piece);
    run.staging.beat();
  }
}

}  // namespace penstock::actors
