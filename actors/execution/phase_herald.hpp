// PhaseHerald knows whom one stage tells, where stages have turns, that the next turn is theirs.
// The stage that a phase begins with tells all of the next one, so that their weights can come
// meanwhile.
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
  /// Speaks for stage `stage` of a plan.
  PhaseHerald(const graph::Plan& plan, std::size_t stage);

  struct News {
    Work near = {};                            ///< Is the work that is near.
    std::span<const std::size_t> stages = {};  ///< Are the stages that it is for.
  };
  /// Returns what is to be told as `work` of the stage begins, or nothing if it is not the first of
  /// a turn, or if this stage tells nobody.
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
