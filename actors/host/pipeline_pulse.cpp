#include "actors/host/pipeline_pulse.hpp"

namespace penstock::actors {

std::uint64_t PipelinePulse::beats() const noexcept {
  std::uint64_t all = beats_.load(std::memory_order_relaxed);
  for (const auto& ipu : ipus_) all += ipu->beats();
  return all;
}

Stillness PipelinePulse::look() {
  const std::lock_guard lock(mutex_);
  still_.look(beats());
  return still_;
}

void PipelinePulse::excuse(std::uint64_t beats) {
  {
    const std::lock_guard lock(mutex_);
    excused_ = beats;
    ++excuses_;
  }
  bell_.ring();
}

bool PipelinePulse::is_excused(std::uint64_t beats) const {
  const std::lock_guard lock(mutex_);
  return excused_ == beats;
}

void PipelinePulse::forget_excuse() {
  const std::lock_guard lock(mutex_);
  excused_.reset();
}

std::uint64_t PipelinePulse::excuses() const {
  const std::lock_guard lock(mutex_);
  return excuses_;
}

}  // namespace penstock::actors
