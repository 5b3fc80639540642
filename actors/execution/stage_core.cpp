#include "actors/execution/stage_core.hpp"

#include <algorithm>
#include <limits>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {

StageCore::StageCore(const graph::Plan& plan, std::size_t stage, std::int64_t window,
                     std::int64_t live)
    : plan_(plan),
      stage_(plan.stages[stage]),
      window_(window),
      window_end_(window > 0 ? window : std::numeric_limits<std::int64_t>::max()),
      arrivals_(static_cast<std::size_t>(live)),
      separate_backward_(plan.phases.separates_backward(static_cast<std::int32_t>(stage))) {
  sort_receives(stage_.forward_receives, static_cast<std::int32_t>(stage), forward_);
  sort_receives(stage_.backward_receives, static_cast<std::int32_t>(stage), backward_);
  for (std::int64_t micro_batch = 0; micro_batch < live; ++micro_batch) reset(micro_batch);
}

void StageCore::sort_receives(const std::vector<std::int32_t>& edges, std::int32_t stage,
                              Receives& receives) {
  for (const std::int32_t id : edges) {
    const std::int32_t from = plan_.edges[static_cast<std::size_t>(id)].from;
    const bool near = from == graph::host || plan_.phases.together(from, stage);
    ++(near ? receives.near : receives.far);
    far_.push_back(!near);
  }
}

void StageCore::reset(std::int64_t micro_batch) {
  Arrivals& arrived = arrivals(micro_batch);
  arrived.there.assign(far_.size(), false);
  const bool first = plan_.phases.turn_begin(micro_batch) == micro_batch;
  const auto turn = static_cast<std::size_t>(first ? plan_.phases.turn : 0);
  arrived.forward_missing = forward_.near + turn * forward_.far;
  arrived.backward_missing = backward_.near + turn * backward_.far;
}

StageCore::Arrivals& StageCore::arrivals(std::int64_t micro_batch) {
  return arrivals_[static_cast<std::size_t>(micro_batch) % arrivals_.size()];
}

const StageCore::Arrivals& StageCore::arrivals(std::int64_t micro_batch) const {
  return arrivals_[static_cast<std::size_t>(micro_batch) % arrivals_.size()];
}

void StageCore::received(std::size_t position, std::int64_t micro_batch) {
  const auto live = static_cast<std::int64_t>(arrivals_.size());
  if (!may_be_under_way(micro_batch) || position >= far_.size() ||
      arrivals(micro_batch).there[position])
    throw Error(Errc::internal, "unexpected tensor at position " + std::to_string(position) +
                                    " of micro-batch " + std::to_string(micro_batch) +
                                    ": expected each position of micro-batches " +
                                    std::to_string(next_backward_) + " to " +
                                    std::to_string(next_backward_ + live - 1) + " once");
  if (position >= stage_.forward_receives.size() && !forward_done(micro_batch))
    throw Error(Errc::internal, "unexpected tensor at position " + std::to_string(position) +
                                    " of micro-batch " + std::to_string(micro_batch) +
                                    ": its backward needs it, and its forward has not ended");
  arrivals(micro_batch).there[position] = true;
  Arrivals& held_up = arrivals(held_up_by(position, micro_batch));
  --(position < stage_.forward_receives.size() ? held_up.forward_missing
                                               : held_up.backward_missing);
}

void StageCore::weights_ready() {
  updating_ = false;
  window_end_ += window_;
}

bool StageCore::may_begin_forward() const {
  const bool slot_free =
      stage_.outputs.empty() || next_forward_ - outputs_taken_ < stage_.output_slots;
  return !updating_ && next_forward_ < window_end_ && in_flight() < stage_.in_flight && slot_free;
}

bool StageCore::forward_ready() const {
  return may_begin_forward() && arrivals(next_forward_).forward_missing == 0;
}

bool StageCore::may_begin_backward() const {
  return in_flight() > 0 && (!separate_backward_ || next_forward_ % plan_.phases.turn == 0);
}

bool StageCore::backward_ready() const {
  return may_begin_backward() && arrivals(next_backward_).backward_missing == 0;
}

std::optional<WaitReason> StageCore::held_by() const {
  if (updating_) return WaitReason::gate;
  if (next_forward_ >= window_end_ || arrivals(next_forward_).forward_missing > 0)
    return std::nullopt;
  if (in_flight() >= stage_.in_flight) return WaitReason::credit;
  return may_begin_forward() ? std::nullopt : std::optional(WaitReason::outputs);
}

std::optional<Work> StageCore::next() const {
  if (running_) return std::nullopt;
  const auto direction = graph::next_direction(*plan_.schedule, forward_ready(), backward_ready());
  if (!direction) return std::nullopt;
  return Work{*direction, *direction == Direction::forward ? next_forward_ : next_backward_};
}

void StageCore::started(const Work& work) {
  running_ = work;
  if (work.direction == Direction::backward) return;
  ++next_forward_;
  max_in_flight_ = std::max(max_in_flight_, in_flight());
}

bool StageCore::begun(const Work& work) const {
  if (work.direction == Direction::forward) return work.micro_batch < next_forward_;
  return work.micro_batch < next_backward_ || running_ == work;
}

void StageCore::finished(const Work& work) {
  running_.reset();
  if (work.direction == Direction::forward) return;
  reset(work.micro_batch + static_cast<std::int64_t>(arrivals_.size()));
  ++next_backward_;
  updating_ = window_ > 0 && next_backward_ == window_end_;
}

std::int64_t StageCore::first_incomplete(std::int64_t micro_batch, std::size_t begin,
                                         std::size_t end) const {
  const std::int64_t turn_end = plan_.phases.turn_begin(micro_batch) + plan_.phases.turn;
  for (std::int64_t m = micro_batch; m < turn_end; ++m)
    for (std::size_t i = begin; i < end; ++i)
      if ((m == micro_batch || far_[i]) && !arrivals(m).there[i]) return m;
  return micro_batch;
}

void StageCore::add_missing(Waiting& waiting, const char* what, std::int64_t next,
                            std::size_t begin, std::size_t end) const {
  const std::int64_t micro_batch = first_incomplete(next, begin, end);
  const Arrivals& arrived = arrivals(micro_batch);
  std::vector<std::int32_t> from;
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    if (arrived.there[i]) continue;
    const std::size_t forward = stage_.forward_receives.size();
    const graph::Edge& edge = plan_.edges[static_cast<std::size_t>(
        i < forward ? stage_.forward_receives[i] : stage_.backward_receives[i - forward])];
    text += (text.empty() ? "" : ", ") + std::string(edge.name.empty() ? "its turn" : what) +
            (edge.name.empty() ? "" : " " + quoted_text(edge.name)) + " from " +
            (edge.from == graph::host ? "the host" : "stage " + std::to_string(edge.from));
    from.push_back(edge.from);
  }
  waiting.text += (waiting.text.empty() ? "waits for " : "; ") + text + " for micro-batch " +
                  std::to_string(micro_batch);
  waiting.ways.push_back(std::move(from));
}

StageCore::Waiting StageCore::waits_for() const {
  if (running_)
    return {"runs " + std::string(to_string(running_->direction)) + " of micro-batch " +
            std::to_string(running_->micro_batch)};
  if (updating_) return {"waits for its weight update"};
  const std::size_t forward = stage_.forward_receives.size();
  Waiting waiting;
  if (may_begin_backward())
    add_missing(waiting, "gradient", next_backward_, forward,
                forward + stage_.backward_receives.size());
  if (in_flight() >= stage_.in_flight)
    waiting.text += " (holds " + std::to_string(in_flight()) + " micro-batches, its limit)";
  else if (may_begin_forward())
    add_missing(waiting, "input", next_forward_, 0, forward);
  else if (in_flight() == 0)
    return {"waits for the host to read its outputs"};
  return waiting;
}

}  // namespace penstock::actors
