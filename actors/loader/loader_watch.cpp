#include "actors/loader/loader_watch.hpp"

#include <utility>

#include "graph/values/canonical_floats.hpp"

namespace penstock::actors {

LoaderWatch::LoaderWatch(int workers, std::int64_t trace_events)
    : reading_(static_cast<std::size_t>(workers)) {
  if (trace_events > 0) trace_.emplace(trace_events);
  ended_.request_stop();
}

void LoaderWatch::begin_epoch(std::uint64_t epoch, std::stop_source stop) noexcept {
  {
    const std::lock_guard lock(mutex_);
    epoch_ = epoch;
    wanted_.swap(stop);
  }
  // Callbacks of the host's at the stop token may change the floating-point environment.
  const KeptFloats floats;
  stop.request_stop();
}

void LoaderWatch::end() noexcept {
  begin_epoch(0, ended_);
}

std::stop_token LoaderWatch::stop_of(std::uint64_t epoch) const noexcept {
  const std::lock_guard lock(mutex_);
  return (epoch == epoch_ ? wanted_ : ended_).get_token();
}

std::string LoaderWatch::describe() const {
  std::string text;
  for (std::size_t worker = 0; worker < reading_.size(); ++worker)
    text += (worker ? ", " : "") + describe(static_cast<int>(worker), "waits for work");
  return text;
}

std::string LoaderWatch::describe(int worker, const std::string& otherwise) const {
  const std::int64_t sample = reading_[static_cast<std::size_t>(worker)].load() - 1;
  return "worker " + std::to_string(worker) + ' ' +
         (sample < 0 ? otherwise : "has not finished reading sample " + std::to_string(sample));
}

}  // namespace penstock::actors
