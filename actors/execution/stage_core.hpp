// A StageCore decides by counting what a stage does next. It knows neither CAF nor memory nor time:
// the stage's actor tells the StageCore what has arrived and what has finished, and asks it what to
// run.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "actors/execution/work.hpp"
#include "graph/plan/plan.hpp"

namespace penstock::actors {

class StageCore {
 public:
  /// Makes the core of stage number `stage` of `plan`. An update comes after every `window`
  /// micro-batches, or never if `window` is 0. At most `live` consecutive micro-batches are under
  /// way at any time.
  StageCore(const graph::Plan& plan, std::size_t stage, std::int64_t window, std::int64_t live);

  /// Notes that the edge at `position` has brought what it brings for `micro_batch`. `position`
  /// counts the stage's forward_receives first, and then its backward_receives. The edges may bring
  /// their tensors in any order, but what a backward needs comes only after the forward.
  /// @throws Error internal if nothing is expected at `position` for `micro_batch`.
  void received(std::size_t position, std::int64_t micro_batch);
  /// Notes that the host has been sent the outputs of one more micro-batch.
  void outputs_sent() { ++outputs_sent_; }
  /// Notes that the host has read the outputs of one more micro-batch.
  void outputs_taken() { ++outputs_taken_; }
  /// Returns whether the host has been sent outputs that it has not read.
  bool has_unread_outputs() const { return outputs_taken_ < outputs_sent_; }
  /// Notes that the update is done, so that the next window may begin.
  void weights_ready();

  /// Returns the work to start now, or nothing if no work may start. One program runs at a time,
  /// and the programs of each direction run in the order of the micro-batches.
  std::optional<Work> next() const;
  void started(const Work& work);
  void finished(const Work& work);

  /// Returns whether `work` has been started. The work may also have finished.
  bool begun(const Work& work) const;
  /// Returns whether `micro_batch` may be under way now: it is one of as many consecutive ones as
  /// may be, the first of which has not had its backward.
  bool may_be_under_way(std::int64_t micro_batch) const {
    return micro_batch >= next_backward_ && micro_batch - next_backward_ < std::ssize(arrivals_);
  }
  /// Returns whether all micro-batches of the window have had their backward. If so, no work may
  /// start before weights_ready().
  bool window_complete() const { return updating_; }
  bool runs(const Work& work) const { return running_ == work; }
  bool busy() const { return running_.has_value(); }
  /// Returns the reason why the stage may not begin its next forward although the input is there.
  /// Returns nothing if there is no such reason, or if the input is missing. While the stage waits
  /// for an update, the reason is `gate` in any case.
  std::optional<WaitReason> held_by() const;
  std::int64_t in_flight() const { return next_forward_ - next_backward_; }
  std::int64_t max_in_flight() const { return max_in_flight_; }
  /// Returns whether the stage runs no program, has no micro-batch in flight, and waits for no
  /// update.
  bool idle() const { return !running_ && in_flight() == 0 && !updating_; }

  /// A Waiting says what a stage waits for, and from which other stages.
  struct Waiting {
    /// This is a text such as 'waits for input "relu_1" from stage 0 for micro-batch 7'.
    std::string text = {};
    /// These are the ways in which the wait may end, as in Wait::ways, but with the numbers of
    /// stages; graph::host stands for the host.
    std::vector<std::vector<std::int32_t>> ways = {};
  };
  Waiting waits_for() const;

 private:
  struct Arrivals {
    std::vector<bool> there;
    std::size_t forward_missing;
    std::size_t backward_missing;
  };
  Arrivals& arrivals(std::int64_t micro_batch);
  const Arrivals& arrivals(std::int64_t micro_batch) const;
  /// A Receives counts edges into the stage. Edges from other phases are far: what they bring for
  /// all micro-batches of a turn is needed before the turn begins. All other edges are near.
  struct Receives {
    std::size_t near = 0;
    std::size_t far = 0;
  };
  void sort_receives(const std::vector<std::int32_t>& edges, std::int32_t stage,
                     Receives& receives);
  /// Notes that nothing has arrived for `micro_batch` yet.
  void reset(std::int64_t micro_batch);
  /// Returns the micro-batch that may not begin before the edge at `position` has brought what it
  /// brings for `micro_batch`. The result is `micro_batch` itself or, if the edge comes from
  /// another phase, the first micro-batch of the turn.
  std::int64_t held_up_by(std::size_t position, std::int64_t micro_batch) const {
    return far_[position] ? plan_.phases.turn_begin(micro_batch) : micro_batch;
  }
  /// Returns whether the forward of `micro_batch` has finished. `micro_batch` may be under way.
  bool forward_done(std::int64_t micro_batch) const {
    return micro_batch < next_forward_ && !runs({Direction::forward, micro_batch});
  }
  bool may_begin_forward() const;
  bool forward_ready() const;
  bool may_begin_backward() const;
  bool backward_ready() const;
  /// Returns the first micro-batch for which something is missing at the positions [begin, end)
  /// that keeps `micro_batch` from beginning. The search goes from `micro_batch` to the end of its
  /// turn.
  std::int64_t first_incomplete(std::int64_t micro_batch, std::size_t begin, std::size_t end) const;
  /// Adds to `waiting` a way in which the wait may end: that everything comes at the positions
  /// [begin, end) that is missing for micro-batch `next`. The text calls a missing tensor `what`.
  void add_missing(Waiting& waiting, const char* what, std::int64_t next, std::size_t begin,
                   std::size_t end) const;

  const graph::Plan& plan_;
  const graph::StagePlan& stage_;
  std::int64_t window_;
  std::int64_t next_forward_ = 0;
  std::int64_t next_backward_ = 0;
  std::int64_t window_end_;
  std::int64_t outputs_sent_ = 0;
  std::int64_t outputs_taken_ = 0;
  std::int64_t max_in_flight_ = 0;
  bool updating_ = false;
  std::optional<Work> running_;
  std::vector<Arrivals> arrivals_;
  Receives forward_;
  Receives backward_;
  std::vector<bool> far_;  // This says of each position whether the edge there is far.
  // If this is true, all forwards of a turn come before its first backward.
  bool separate_backward_;
};

}  // namespace penstock::actors
