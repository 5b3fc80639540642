#include "graph/plan/schedules/pipeline_state.hpp"

#include <algorithm>

namespace penstock::graph {

PipelineState::PipelineState(const Schedule& schedule, const Phases& phases, int stages,
                             int micro_batches, bool training)
    : schedule_(schedule),
      phases_(phases),
      micro_batches_(micro_batches),
      training_(training),
      now_(static_cast<std::size_t>(stages)),
      seen_(now_),
      max_in_flight_(now_.size(), 0) {}

bool PipelineState::ready(int stage, Direction direction) const {
  return direction == Direction::forward ? forward_ready(stage) : backward_ready(stage);
}

int PipelineState::start(int stage, Direction direction) {
  Counts& counts = now_[static_cast<std::size_t>(stage)];
  if (direction == Direction::backward) return counts.backward_started++;
  const int micro_batch = counts.forward_started++;
  int& high_water = max_in_flight_[static_cast<std::size_t>(stage)];
  high_water = std::max(high_water, held(stage));
  return micro_batch;
}

void PipelineState::finish(int stage, Direction direction) {
  Counts& counts = now_[static_cast<std::size_t>(stage)];
  ++(direction == Direction::forward ? counts.forward_done : counts.backward_done);
}

bool PipelineState::done() const {
  return std::ranges::all_of(now_, [this](const Counts& counts) {
    return (training_ ? counts.backward_done : counts.forward_done) == micro_batches_;
  });
}

std::vector<Wait> PipelineState::waits() const {
  std::vector<Wait> result;
  for (int stage = 0; stage < stages(); ++stage) {
    const auto forward = forward_wait(stage), backward = backward_wait(stage);
    if (forward && forwards_left(stage))
      result.push_back({stage, Direction::forward, now(stage).forward_started, *forward});
    if (backward && backwards_left(stage))
      result.push_back({stage, Direction::backward, now(stage).backward_started, *backward});
  }
  return result;
}

bool PipelineState::backwards_left(int stage) const {
  return training_ && now(stage).backward_started < micro_batches_;
}

std::optional<Wait::For> PipelineState::forward_wait(int stage) const {
  const int next = now(stage).forward_started;
  if (stage > 0 && seen(stage - 1).forward_done < needed(stage, stage - 1, next))
    return Wait::For::activation;
  if (held(stage) >= in_flight(stage)) return Wait::For::credit;
  const bool turns = schedule_.one_at_a_time || !phases_.none();
  if (stage == 0 && turns && gone() < phases_.turn_begin(next)) return Wait::For::turn;
  return std::nullopt;
}

std::optional<Wait::For> PipelineState::backward_wait(int stage) const {
  const int next = now(stage).backward_started;
  if (now(stage).forward_done < needed(stage, stage, next)) return Wait::For::gradient;
  const bool there =
      is_last(stage) || seen(stage + 1).backward_done >= needed(stage, stage + 1, next);
  return there ? std::nullopt : std::optional(Wait::For::gradient);
}

int PipelineState::in_flight(int stage) const {
  return phases_.none() ? schedule_.in_flight(stage, stages()) : phases_.turn;
}

int PipelineState::needed(int stage, int neighbour, int micro_batch) const {
  const bool one_by_one =
      stage == neighbour ? !phases_.separates_backward(stage) : phases_.together(stage, neighbour);
  if (one_by_one) return micro_batch + 1;
  const auto end = static_cast<int>(phases_.turn_begin(micro_batch)) + phases_.turn;
  return std::min(end, micro_batches_);
}

int PipelineState::held(int stage) const {
  const int released = training_        ? now(stage).backward_done
                       : is_last(stage) ? now(stage).forward_done
                                        : seen(stage + 1).forward_started;
  return now(stage).forward_started - released;
}

int PipelineState::gone() const {
  return training_ ? now(0).backward_done : seen(stages() - 1).forward_done;
}

}  // namespace penstock::graph
