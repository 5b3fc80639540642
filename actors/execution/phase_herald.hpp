// In phased execution, a PhaseHerald knows to which stages one stage says that the next turn is
// theirs. The first stage of a phase says so to all stages of the next phase, so that their weights
// can come while its own phase has its turn.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "actors/execution/work.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::actors {

class PhaseHerald {
 public:
  /// Makes the herald of stage number `stage` of `plan`.
  PhaseHerald(const graph::Plan& plan, std::size_t stage);

  struct News {
    Work near = {};                            ///< This is the first work of the turn that is near.
    std::span<const std::size_t> stages = {};  ///< These stages will do the work.
  };
  /// Returns the news that the stage tells when it begins `work`. Returns nothing if `work` is not
  /// the first work of a turn, or if this stage tells nobody.
  std::optional<News> news_of(const Work& work) const;

 private:
  struct NextTurn {
    Direction direction = Direction::forward;
    std::vector<std::size_t> stages = {};
  };

  graph::Phases phases_;
  // This has, for each direction in which the stage works, the next turn and the stages that are
  // told.
  std::array<NextTurn, 2> next_turn_;
};

}  // namespace penstock::actors
