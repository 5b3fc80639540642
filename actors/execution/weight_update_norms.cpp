// These functions compute the norms of an update: those of gradients, for clipping, and those that
// a rule has of its own, for which it goes over a parameter twice.
#include <algorithm>
#include <functional>

#include "actors/execution/weight_update.hpp"

namespace penstock::actors {

void WeightUpdate::number_shard_norms() {
  std::size_t shards = 0;
  for (Trained& trained : trained_)
    if (trained.divided) trained.shard_norm = shards++;
}

void WeightUpdate::make_room(UpdateNorms& norms) const {
  const auto divided = static_cast<std::size_t>(std::ranges::count_if(trained_, &Trained::divided));
  norms.whole.reserve(trained_.size() - divided);
  norms.shards.resize(divided);
  for (const Trained& trained : trained_) {
    if (!trained.divided) continue;
    ShardNorm& norm = norms.shards[trained.shard_norm];
    norm.variable = trained.variable;
    graph::reserve(norm.part, trained.own, trained.elements());
  }
}

bool WeightUpdate::measures(UpdatePhase phase) const {
  return (phase == UpdatePhase::measure && clips()) || (phase == UpdatePhase::follow && follows());
}

void WeightUpdate::measure() {
  norms_.whole.clear();
  const float scale = gradient_scale();
  for (const Trained& trained : trained_) {
    if (trained.divided)
      sums_.norm_part(trained, scale, staging_, norms_.shards[trained.shard_norm].part);
    else
      norms_.whole.push_back({trained.variable, sums_.squared_norm(trained, scale, staging_)});
  }
}

void WeightUpdate::follow() {
  for (const Trained& trained : trained_) {
    if (!moves_in_shards(trained)) continue;
    const Piece piece = bring(trained, trained.own);
    make_norm_part(trained, piece, norms_.shards[trained.shard_norm].part);
    put_back(trained, piece);
    staging_.beat();
  }
}

void WeightUpdate::make_norm_part(const Trained& trained, const Piece& piece,
                                  graph::NormPart& part) {
  const auto block_of_piece = [&](const graph::Part& block) {
    const std::int64_t first = piece.elements.begin;
    return part_of(piece, {block.begin - first, block.end - first});
  };
  const auto squared_norm = [&](const graph::Part& block) {
    return follow(trained, block_of_piece(block));
  };
  const auto directions = [&](const graph::Part& block, float* to) {
    const Piece own = block_of_piece(block);
    follow(trained, own);
    rule_of(trained).rule->in_shards->directions(rule_of(trained).hyper, step_ + 1, own.weight,
                                                 own.state, to);
  };
  // They are passed by reference, for a function object with so many captures would be allocated.
  graph::norm_part(trained.own, trained.elements(),
                   {std::cref(squared_norm), std::cref(directions)}, part);
}

double WeightUpdate::follow(const Trained& trained, const Piece& block) {
  const double squared_norm = rule_of(trained).rule->in_shards->follow(
      rule_of(trained).hyper, step_ + 1, block.weight, block.gradient, block.state);
  staging_.beat();
  return squared_norm;
}

void WeightUpdate::move(const Trained& trained, const Piece& piece, double squared_weights,
                        double squared_directions) {
  const std::int64_t elements = piece.elements.end - piece.elements.begin;
  for (std::int64_t begin = 0; begin < elements; begin += most_at_once) {
    const Piece part = part_of(piece, {begin, std::min(begin + most_at_once, elements)});
    rule_of(trained).rule->in_shards->move(hyper_of(trained), step_ + 1, squared_weights,
                                           squared_directions, part.weight, part.state);
    staging_.beat();
  }
}

// Works on each block by itself, and then on the blocks in order, which gives the bits of the
// rule's update() of the whole.
void WeightUpdate::update_by_norms(const Trained& trained, const Piece& piece) {
  const std::int64_t elements = piece.elements.end - piece.elements.begin;
  double squared_weights = 0, squared_directions = 0;
  for (std::int64_t begin = 0; begin < elements; begin += graph::norm_block) {
    const Piece block = part_of(piece, {begin, std::min(begin + graph::norm_block, elements)});
    squared_directions += follow(trained, block);
    squared_weights += graph::squared_norm(block.weight);
  }
  move(trained, piece, squared_weights, squared_directions);
}

void WeightUpdate::move_shard(const Trained& trained) {
  const double squared_norm = squared_norm_of_weight(trained);
  const Piece own{trained.own, bring_state(trained, trained.own), gradient(trained),
                  bring_weight(trained, trained.own)};
  move(trained, own, squared_norm, directions_[static_cast<std::size_t>(trained.variable)]);
  put_back_weight(trained, trained.own.begin, own.weight);
}

/// The norm's own blocks, in its own order.
double WeightUpdate::squared_norm_of_weight(const Trained& trained) {
  double squared = 0;
  for (std::int64_t begin = 0; begin < trained.elements(); begin += graph::norm_block) {
    const std::int64_t count = std::min(graph::norm_block, trained.elements() - begin);
    const std::span<float> here = weight(trained, {begin, begin + count});
    squared += graph::squared_norm(
        trained.weight_on_host() ? staging_.load(0, here.data(), count, arena_->weight_moves())
                                 : here);
    staging_.beat();
  }
  return squared;
}

}  // namespace penstock::actors
