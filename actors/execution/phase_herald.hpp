// PhaseHerald knows which stages one stage tells, in phased execution, that the next turn is
// theirs. The first stage of a phase tells all stages of the next phase, so that their weights can
// come while the phase has its turn.
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
  /// Serves stage `stage` of `plan`.
  PhaseHerald(const graph::Plan& plan, std::size_t stage);

  struct News {
    Work near = {};                            ///< Is the first work of the turn that is near.
    std::span<const std::size_t> stages = {};  ///< Has the stages that will do the work.
  };
  /// Returns the news to tell when the stage begins `work`. Returns nothing if `work` is not the
  /// first of a turn, or if this stage tells nobody.
  std::optional<News> news_of(const Work& work) const;

 private:
  struct NextTurn {
    Direction direction = Direction::forward;
    std::vector<std::size_t> stages = {};
  };

  graph::Phases phases_;
  // Has, for each direction in which the stage works, the stages that work next and that are told.
  std::array<NextTurn, 2> next_turn_;
};

}  // namespace penstock::actors
