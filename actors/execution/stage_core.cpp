#include "actors/execution/stage_core.hpp"

#include <algorithm>
#include <limits>

#include "penstock/error.hpp"

namespace penstock::actors {

StageCore::StageCore(const graph::Plan& plan, std::size_t stage, std::int64_t window,
                     std::int64_t live)
    : plan_(plan),
      stage_(plan.stages[stage]),
      window_(window),
      window_end_(window > 0 ? window : std::numeric_limits<std::int64_t>::max()),
      arrivals_(static_cast<std::size_t>(live)) {
  for (Arrivals& one : arrivals_) reset(one);
}

void StageCore::reset(Arrivals& arrivals) const {
  arrivals.there.assign(stage_.forward_receives.size() + stage_.backward_receives.size(), false);
  arrivals.forward_missing = stage_.forward_receives.size();
  arrivals.backward_missing = stage_.backward_receives.size();
}

StageCore::Arrivals& StageCore::arrivals(std::int64_t micro_batch) {
  return arrivals_[static_cast<std::size_t>(micro_batch) % arrivals_.size()];
}

const StageCore::Arrivals& StageCore::arrivals(std::int64_t micro_batch) const {
  return arrivals_[static_cast<std::size_t>(micro_batch) % arrivals_.size()];
}

void StageCore::received(std::size_t position, std::int64_t micro_batch) {
  const auto live = static_cast<std::int64_t>(arrivals_.size());
  Arrivals& arrived = arrivals(micro_batch);
  if (micro_batch < next_backward_ || micro_batch >= next_backward_ + live ||
      position >= arrived.there.size() || arrived.there[position])
    throw Error(Errc::internal, "unexpected tensor at position " + std::to_string(position) +
                                    " of micro-batch " + std::to_string(micro_batch) +
                                    ": expected each position of micro-batches " +
                                    std::to_string(next_backward_) + " to " +
                                    std::to_string(next_backward_ + live - 1) + " once");
  arrived.there[position] = true;
  --(position < stage_.forward_receives.size() ? arrived.forward_missing
                                               : arrived.backward_missing);
}

void StageCore::weights_ready() {
  updating_ = false;
  window_end_ += window_;
}

bool StageCore::may_begin_forward() const {
  const bool slot_free =
      stage_.outputs.empty() || next_forward_ - outputs_taken_ < stage_.stash_slots;
  return !updating_ && next_forward_ < window_end_ && in_flight() < stage_.in_flight && slot_free;
}

bool StageCore::forward_ready() const {
  return may_begin_forward() && arrivals(next_forward_).forward_missing == 0;
}

bool StageCore::backward_ready() const {
  return in_flight() > 0 && arrivals(next_backward_).backward_missing == 0;
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

void StageCore::finished(const Work& work) {
  running_.reset();
  if (work.direction == Direction::forward) return;
  reset(arrivals(work.micro_batch));
  ++next_backward_;
  updating_ = window_ > 0 && next_backward_ == window_end_;
}

std::string StageCore::missing(const char* what, std::int64_t micro_batch, std::size_t begin,
                               std::size_t end) const {
  const Arrivals& arrived = arrivals(micro_batch);
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    if (arrived.there[i]) continue;
    const std::size_t forward = stage_.forward_receives.size();
    const graph::Edge& edge = plan_.edges[static_cast<std::size_t>(
        i < forward ? stage_.forward_receives[i] : stage_.backward_receives[i - forward])];
    text += (text.empty() ? "" : ", ") + std::string(edge.name.empty() ? "its turn" : what) +
            (edge.name.empty() ? "" : " \"" + edge.name + "\"") + " from " +
            (edge.from == graph::host ? "the host" : "stage " + std::to_string(edge.from));
  }
  return text + " for micro-batch " + std::to_string(micro_batch);
}

std::string StageCore::waits_for() const {
  if (running_)
    return "runs " + std::string(to_string(running_->direction)) + " of micro-batch " +
           std::to_string(running_->micro_batch);
  if (updating_) return "waits for its weight update";
  const std::size_t forward = stage_.forward_receives.size();
  std::string text;
  if (in_flight() > 0)
    text = "waits for " +
           missing("gradient", next_backward_, forward, forward + stage_.backward_receives.size());
  if (in_flight() >= stage_.in_flight)
    return text + " (holds " + std::to_string(in_flight()) + " micro-batches, its limit)";
  if (!may_begin_forward() && in_flight() == 0) return "waits for the host to read its outputs";
  if (may_begin_forward())
    text += (text.empty() ? "waits for " : "; ") + missing("input", next_forward_, 0, forward);
  return text;
}

}  // namespace penstock::actors
