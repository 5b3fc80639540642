// A PipelineState says how far each stage of a simulated pipeline has come, and thus which work is
// ready. It consists of counts and knows no time. A stage sees its own counts at once, and those of
// the others as they were when publish() was called last.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/plan/phases/phases.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "graph/plan/schedules/timeline.hpp"

namespace penstock::graph {

class PipelineState {
 public:
  PipelineState(const Schedule& schedule, const Phases& phases, int stages, int micro_batches,
                bool training);

  int stages() const noexcept { return static_cast<int>(now_.size()); }
  bool forward_ready(int stage) const { return !forward_wait(stage) && forwards_left(stage); }
  bool backward_ready(int stage) const { return !backward_wait(stage) && backwards_left(stage); }
  bool ready(int stage, Direction direction) const;

  /// Starts the next run of a stage in `direction`, and returns the micro-batch of that run.
  int start(int stage, Direction direction);
  void finish(int stage, Direction direction);
  void publish() { seen_ = now_; }

  bool done() const;
  const std::vector<int>& max_in_flight() const noexcept { return max_in_flight_; }
  /// Returns, for each unfinished stage, why the stage does not go on.
  std::vector<Wait> waits() const;

 private:
  struct Counts {
    int forward_started = 0;
    int forward_done = 0;
    int backward_started = 0;
    int backward_done = 0;
  };

  bool forwards_left(int stage) const { return now(stage).forward_started < micro_batches_; }
  bool backwards_left(int stage) const;
  std::optional<Wait::For> forward_wait(int stage) const;
  std::optional<Wait::For> backward_wait(int stage) const;
  int held(int stage) const;
  int in_flight(int stage) const;
  /// Returns how many micro-batches `neighbour`, which is a neighbour or `stage` itself, must have
  /// done before `stage` can begin `micro_batch`.
  int needed(int stage, int neighbour, int micro_batch) const;
  int gone() const;
  bool is_last(int stage) const { return stage == stages() - 1; }
  const Counts& now(int stage) const { return now_[static_cast<std::size_t>(stage)]; }
  const Counts& seen(int stage) const { return seen_[static_cast<std::size_t>(stage)]; }

  const Schedule& schedule_;
  const Phases& phases_;
  int micro_batches_;
  bool training_;
  std::vector<Counts> now_;
  std::vector<Counts> seen_;
  std::vector<int> max_in_flight_;
};

}  // namespace penstock::graph
