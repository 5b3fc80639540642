// A ModelGauge has the numbers of one training or inference model that the monitor shows: what its
// calls have done so far. The thread that calls the model writes them, without a lock; the
// monitor's thread reads them at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "graph/values/stopwatch.hpp"

namespace penstock {

class ModelGauge {
 public:
  /// Makes a gauge that has counted no call. `updates` counts the updates of the weights. Each
  /// gauge of this process gets a number of its own.
  ModelGauge(std::string name, bool training,
             std::shared_ptr<const std::atomic<std::uint64_t>> updates)
      : number(next_number()), name(std::move(name)), training(training), updates_(updates) {}

  /// A Call is a call of the model, which is under way for as long as the Call lives.
  class Call {
   public:
    explicit Call(ModelGauge& gauge) noexcept : gauge_(gauge) {
      gauge_.in_call_since_ns_.store(begin_ns_, std::memory_order_relaxed);
    }
    ~Call() { gauge_.in_call_since_ns_.store(0, std::memory_order_relaxed); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// Counts the call, which has done its work on `samples` samples. A `loss` of nan says that the
    /// call has none.
    void count(std::int64_t samples, double loss) noexcept {
      gauge_.last_ns_.store(steady_ns() - begin_ns_, std::memory_order_relaxed);
      gauge_.last_samples_.store(samples, std::memory_order_relaxed);
      gauge_.loss_.store(loss, std::memory_order_relaxed);
      gauge_.samples_.fetch_add(samples, std::memory_order_relaxed);
      gauge_.calls_.fetch_add(1, std::memory_order_relaxed);
    }

   private:
    ModelGauge& gauge_;
    const std::int64_t begin_ns_ = steady_ns();
  };

  /// A Reading is what the gauge shows at one moment.
  struct Reading {
    std::uint64_t updates = 0;
    std::int64_t calls = 0;    ///< This many calls have done their work.
    std::int64_t samples = 0;  ///< All these calls together had this many samples.
    /// `in_call_since_ns` is when the call under way began; 0 if no call is under way.
    std::int64_t in_call_since_ns = 0;
    std::int64_t last_ns = 0;  ///< The last call took this time.
    std::int64_t last_samples = 0;
    double loss = 0;  ///< `loss` is the mean loss of the last call, or nan if the call had no loss.
  };
  Reading read() const noexcept {
    return {.updates = updates_->load(),
            .calls = calls_.load(std::memory_order_relaxed),
            .samples = samples_.load(std::memory_order_relaxed),
            .in_call_since_ns = in_call_since_ns_.load(std::memory_order_relaxed),
            .last_ns = last_ns_.load(std::memory_order_relaxed),
            .last_samples = last_samples_.load(std::memory_order_relaxed),
            .loss = loss_.load(std::memory_order_relaxed)};
  }

  const std::uint64_t number;
  const std::string name;
  const bool training;
  /// `past_work_ns` has, by the number of an IPU, the nanoseconds for which the IPU worked for
  /// plans of the model that are no longer on it. Only the ProcessMonitor uses the map, under a
  /// lock of its own.
  std::map<std::int64_t, std::int64_t> past_work_ns = {};

 private:
  static std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  const std::shared_ptr<const std::atomic<std::uint64_t>> updates_;
  std::atomic<std::int64_t> calls_{0};
  std::atomic<std::int64_t> samples_{0};
  std::atomic<std::int64_t> in_call_since_ns_{0};
  std::atomic<std::int64_t> last_ns_{0};
  std::atomic<std::int64_t> last_samples_{0};
  std::atomic<double> loss_{std::numeric_limits<double>::quiet_NaN()};
};

}  // namespace penstock
