#include <algorithm>
#include <functional>

#include "actors/update/rounds.hpp"

namespace penstock::actors {
namespace {

/// If threads share the work on a parameter, each of them gets whole cache lines, and at least
/// `least_elements` elements, which a core updates in some ten microseconds.
constexpr std::int64_t line_elements = 16;
constexpr std::int64_t least_elements = 1 << 14;
/// A rule works on at most this many elements at a time, if it can. A core updates them in some ten
/// milliseconds, so that the watchdog sees the IPU move.
constexpr std::int64_t most_at_once = 1 << 22;

}  // namespace

ApplyRound::ApplyRound(const RoundRun& run)
    : run_(run),
      update_(run.update),
      staging_(run.staging),
      pieces_(run.update, run.staging, run.clip_factor),
      rate_factor_(run.update.rules->schedule.at(run.update.step)) {}

void ApplyRound::run() {
  update_.applying = true;
  for (const TrainedVariable& trained : update_.trained) {
    if (graph::empty(trained.share)) continue;
    if (update_.moves_in_shards(trained))
      move_shard(trained);
    else
      update_variable(trained);
    if (!trained.sharded) update_.write_copies(trained, staging_);
  }
  if (std::ranges::none_of(update_.trained, &TrainedVariable::sharded)) update_.end();
}

graph::Hyper ApplyRound::hyper_of(const TrainedVariable& trained) const {
  graph::Hyper hyper = update_.rule_of(trained).hyper;
  hyper.learning_rate *= rate_factor_;
  return hyper;
}

void ApplyRound::update_variable(const TrainedVariable& trained) {
  std::int64_t at_once =
      graph::elements_at_once(graph::rule_tensors(update_.staged(trained)), staging_.bytes());
  if (update_.rule_of(trained).rule->elementwise) at_once = std::min(at_once, most_at_once);
  for (std::int64_t begin = trained.share.begin; begin < trained.share.end; begin += at_once) {
    const Piece piece =
        pieces_.bring(trained, {begin, std::min(begin + at_once, trained.share.end)});
    update_piece(trained, piece);
    pieces_.put_back(trained, piece);
    pieces_.put_back_weight(trained, begin, piece.weight);
    staging_.beat();
  }
}

void ApplyRound::update_piece(const TrainedVariable& trained, const Piece& piece) {
  const std::int64_t elements = size(piece.elements);
  if (update_.rule_of(trained).rule->in_shards) return update_by_norms(trained, piece);
  const graph::Sharing shared = sharing(trained, elements);
  if (!run_.runner || shared.parts <= 1) return update_elements(trained, piece);
  const auto work = [&](std::int32_t number) {
    update_elements(trained, part_of(piece, graph::elements_of(graph::piece_of(shared, number),
                                                               line_elements, elements)));
  };
  run_.runner->run(shared.parts, std::ref(work));
}

void ApplyRound::update_elements(const TrainedVariable& trained, const Piece& piece) {
  update_.rule_of(trained).rule->update(hyper_of(trained), update_.step + 1, piece.weight,
                                        piece.gradient, piece.state);
}

graph::Sharing ApplyRound::sharing(const TrainedVariable& trained, std::int64_t elements) const {
  const std::int64_t parts =
      std::min<std::int64_t>(update_.setup->plan->threads_per_ipu, elements / least_elements);
  if (!update_.rule_of(trained).rule->elementwise || parts <= 1) return {};
  return {.units = (elements + line_elements - 1) / line_elements,
          .parts = static_cast<std::int32_t>(parts)};
}

// The norms are added up over their blocks, in the order of the blocks. That gives the same bits as
// the rule's update() of the whole parameter.
void ApplyRound::update_by_norms(const TrainedVariable& trained, const Piece& piece) {
  const std::int64_t elements = size(piece.elements);
  double squared_weights = 0, squared_directions = 0;
  for (std::int64_t begin = 0; begin < elements; begin += graph::norm_block) {
    const Piece block = part_of(piece, {begin, std::min(begin + graph::norm_block, elements)});
    squared_directions += follow_block(run_, trained, block);
    squared_weights += graph::squared_norm(block.weight);
  }
  move(trained, piece, squared_weights, squared_directions);
}

void ApplyRound::move_shard(const TrainedVariable& trained) {
  const Piece piece = pieces_.bring_followed(trained, trained.share);
  move(trained, piece, trained.squared_weight,
       run_.directions[static_cast<std::size_t>(trained.variable)]);
  pieces_.put_back_weight(trained, trained.share.begin, piece.weight);
}

void ApplyRound::move(const TrainedVariable& trained, const Piece& piece, double squared_weights,
                      double squared_directions) {
  const std::int64_t elements = size(piece.elements);
  for (std::int64_t begin = 0; begin < elements; begin += most_at_once) {
    const Piece part = part_of(piece, {begin, std::min(begin + most_at_once, elements)});
    update_.rule_of(trained).rule->in_shards->move(hyper_of(trained), update_.step + 1,
                                                   squared_weights, squared_directions, part.weight,
                                                   part.state);
    staging_.beat();
  }
}

}  // namespace penstock::actors
