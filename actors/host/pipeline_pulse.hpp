// A PipelinePulse has the signs of life of a whole pipeline. Whoever waits for the pipeline can
// tell from them whether it is slow or stands still: they say how often its actors and its IPUs
// have moved, and whether there is a known reason why nothing moves. Any thread may use a
// PipelinePulse.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/host/bell.hpp"
#include "actors/host/ipu_pulse.hpp"
#include "actors/host/stillness.hpp"

namespace penstock::actors {

class PipelinePulse {
 public:
  /// Makes a pulse that rings `bell` with each excuse. The bell outlives the pulse. `now` is the
  /// clock that measures for how long nothing has moved.
  explicit PipelinePulse(Bell& bell, Stillness::Now now = &Stillness::Clock::now)
      : bell_(bell), now_(now), still_(now) {}

  /// Counts a move.
  void beat() noexcept { beats_.fetch_add(1, std::memory_order_relaxed); }
  /// Returns the number of all moves so far, including those of the IPUs that are watched.
  std::uint64_t beats() const noexcept;
  /// Counts from now on what the IPUs in `ipus` do as moves. This function is called once, before
  /// the host's first call.
  void watch(std::vector<std::shared_ptr<const IpuPulse>> ipus) { ipus_ = std::move(ipus); }
  const std::vector<std::shared_ptr<const IpuPulse>>& ipus() const noexcept { return ipus_; }

  /// Returns for how long beats() has returned the same number, as far as this and earlier calls of
  /// look() can tell.
  Stillness look();
  /// Returns the present time of the clock that look() uses.
  Stillness::Clock::time_point now() const noexcept { return now_(); }

  /// Notes that there is a known reason why nothing has moved since beats() was `beats`.
  void excuse(std::uint64_t beats);
  /// Returns whether the last excuse was made when beats() was `beats`.
  bool is_excused(std::uint64_t beats) const;
  /// Forgets the last excuse.
  void forget_excuse();
  /// Returns how many excuses there have been.
  std::uint64_t excuses() const;

 private:
  Bell& bell_;
  std::atomic<std::uint64_t> beats_{0};
  std::vector<std::shared_ptr<const IpuPulse>> ipus_;
  const Stillness::Now now_;
  mutable std::mutex mutex_;
  Stillness still_;
  std::optional<std::uint64_t> excused_;
  std::uint64_t excuses_ = 0;
};

}  // namespace penstock::actors
