#include "graph/plan/phases/residency.hpp"

#include <algorithm>

namespace penstock::graph {
namespace {

std::int32_t number_of(const Phases& phases, const Turn& turn) {
  const PhaseNumbers& numbers = phases.numbers[static_cast<std::size_t>(turn.phase)];
  return turn.direction == Direction::forward ? numbers.forward : numbers.backward;
}

std::optional<Turn> next_turn(const Phases& phases, const Turn& turn, bool training) {
  const auto last = static_cast<std::int32_t>(phases.numbers.size()) - 1;
  const bool backward = turn.direction == Direction::backward;
  if (!backward && turn.phase < last) return Turn{turn.phase + 1, Direction::forward};
  if (!training) return std::nullopt;
  if (backward)
    return turn.phase > 0 ? std::optional(Turn{turn.phase - 1, Direction::backward}) : std::nullopt;
  return Turn{last, Direction::backward};
}

}  // namespace

std::vector<Turn> turns_of(const Phases& phases, bool training) {
  std::vector<Turn> turns;
  for (std::optional<Turn> turn = Turn{}; turn; turn = next_turn(phases, *turn, training))
    turns.push_back(*turn);
  return turns;
}

std::optional<Turn> comes_during(const Phases& phases, const Turn& turn, bool training) {
  const auto next = next_turn(phases, turn, training);
  if (!next || number_of(phases, *next) != number_of(phases, turn) + 1) return std::nullopt;
  return next;
}

bool leaves_after(const Phases& phases, const Turn& turn, bool training) {
  if (turn.direction == Direction::backward || !training) return true;
  const Turn back{turn.phase, Direction::backward};
  return number_of(phases, back) - number_of(phases, turn) > longest_stay;
}

std::int32_t room_of(const Phases& phases, std::int32_t stage) {
  if (phases.none()) return 0;
  const std::int32_t phase = phases.of_stage[static_cast<std::size_t>(stage)];
  return phases.numbers[static_cast<std::size_t>(phase)].forward % rooms;
}

std::vector<Stay> stays_of(const Phases& phases, bool training) {
  std::vector<Stay> stays;
  // `open` has, for each phase, the position in `stays` of the stay that has not ended, or -1 if no
  // stay of the phase is open.
  std::vector<std::int32_t> open(phases.numbers.size(), -1);
  const auto arrive = [&](std::int32_t phase, std::int32_t number) {
    auto& stay = open[static_cast<std::size_t>(phase)];
    if (stay >= 0) return;
    stay = static_cast<std::int32_t>(stays.size());
    stays.push_back({phase, number, number});
  };
  for (const Turn& turn : turns_of(phases, training)) {
    const std::int32_t number = number_of(phases, turn);
    arrive(turn.phase, number);
    if (const auto next = comes_during(phases, turn, training)) arrive(next->phase, number);
    auto& stay = open[static_cast<std::size_t>(turn.phase)];
    stays[static_cast<std::size_t>(stay)].to = number;
    if (leaves_after(phases, turn, training)) stay = -1;
  }
  return stays;
}

}  // namespace penstock::graph
