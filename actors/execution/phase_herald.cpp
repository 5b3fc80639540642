#include "actors/execution/phase_herald.hpp"

#include "graph/plan/phases/residency.hpp"

namespace penstock::actors {
namespace {

bool begins_its_phase(const std::vector<std::int32_t>& phase_of_stage, std::size_t stage,
                      Direction direction) {
  if (direction == Direction::forward)
    return stage == 0 || phase_of_stage[stage - 1] != phase_of_stage[stage];
  return stage + 1 == phase_of_stage.size() || phase_of_stage[stage + 1] != phase_of_stage[stage];
}

constexpr std::size_t position_of(Direction direction) {
  return direction == Direction::forward ? 0 : 1;
}

}  // namespace

PhaseHerald::PhaseHerald(const graph::Plan& plan, std::size_t stage) : phases_(plan.phases) {
  if (phases_.none()) return;
  const auto& of_stage = phases_.of_stage;
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    const auto next = graph::comes_during(phases_, {of_stage[stage], direction}, plan.training);
    if (!next || !begins_its_phase(of_stage, stage, direction)) continue;
    NextTurn& turn = next_turn_[position_of(direction)];
    turn.direction = next->direction;
    for (std::size_t other = 0; other < of_stage.size(); ++other)
      if (of_stage[other] == next->phase) turn.stages.push_back(other);
  }
}

std::optional<PhaseHerald::News> PhaseHerald::news_of(const Work& work) const {
  const NextTurn& turn = next_turn_[position_of(work.direction)];
  if (turn.stages.empty() || phases_.turn_begin(work.micro_batch) != work.micro_batch)
    return std::nullopt;
  return News{{turn.direction, work.micro_batch}, turn.stages};
}

}  // namespace penstock::actors
