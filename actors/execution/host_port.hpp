// HostPort: where the engine answers the host's one call at a time, and where failures are kept.
// Any thread; the host's thread is the only one that waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/execution/ipu_pulse.hpp"
#include "actors/execution/stillness.hpp"
#include "actors/host/failure.hpp"
#include "penstock/error.hpp"
#include "penstock/tensor.hpp"

namespace penstock::actors {

using Outputs = std::vector<Tensor>;    ///< in the order of Plan::outputs
using Variables = std::vector<Tensor>;  ///< in the order of Plan::variables
struct Done {};
/// A call that was asked to stop has done so many micro-batches per replica, and will do no others.
struct CutAfter {
  std::int64_t micro_batches = 0;
};
/// What a call that runs micro-batches returns.
struct StepOutcome {
  Outputs outputs = {};
  double mean_loss = 0;  ///< as in StepResult
};
using Answer = std::variant<Done, StepOutcome, CutAfter>;

/// What every call is told after a failure that said `failure`.
Error closed_by(const std::string& failure);

class HostPort {
 public:
  using Clock = Stillness::Clock;

  /// Updates are counted on from what `updates` says; null: from 0. `now` tells the time for which
  /// something has been still.
  explicit HostPort(std::shared_ptr<std::atomic<std::uint64_t>> updates = {},
                    Stillness::Now now = &Clock::now);

  /// Begins a call, which is under way until wait() has taken its answer.
  /// @throws Error as expect_open(); busy if another call is under way.
  void begin_call();
  /// Throws what begin_call() would, and begins no call.
  void expect_rest();
  /// Throws busy if a call is under way and the engine has not failed; returns whether it has.
  bool expect_rest_or_failure() const;
  /// @throws Error if the engine has failed: with the failure's own code and text if no call has
  /// thrown it yet, closed otherwise.
  void expect_open();
  /// Ends the call that has begun, for which no answer will come.
  void abandon_call() noexcept;
  /// Returns whether a call is under way that has neither been answered nor failed.
  bool awaits_answer() const;
  void answer(Answer answer) noexcept;
  /// Keeps the failure, if it is the first one. The call that is under way throws it, or else the
  /// next one does; every later call says what it was.
  void fail(Failure failure) noexcept;
  bool answered() const;
  bool failed() const;
  /// What the first failure said; empty if there was none.
  std::string failure() const;
  /// Returns what expect_open() would throw if no call has thrown the failure yet; nothing if there
  /// is none, or if one has.
  std::optional<Error> untold_failure() const;

  /// Who finds out why nothing has moved for `quiet_seconds`, since progressed() was `progress`. It
  /// fails the call, or excuses it. It must not throw.
  using Watchdog = std::function<void(std::uint64_t progress, double quiet_seconds)>;

  /// Waits for the answer; a failure goes first, even one that comes after it, before it is taken.
  /// The watchdog is called once nothing has moved for `quiet_seconds`, and again a second later if
  /// it has neither failed nor excused the call yet. After an excuse the wait goes on, and the
  /// watchdog is called again after another `quiet_seconds` in which nothing moves.
  /// The call is over then, whatever is thrown.
  /// @throws Error with the failure; stalled if there is no watchdog, or it is silent too.
  Answer wait(double quiet_seconds, const Watchdog& watchdog = {});

  /// Weights are about to change. Returns whether they may: they must not any more if the model has
  /// failed, or is being ended. An update that has begun is finished by all stages whatever fails
  /// meanwhile, so that they agree.
  bool update_begins();
  /// The update that began has ended: all stages of all replicas have its weights. Whoever waits in
  /// await_update_end() is woken.
  void update_ended();
  void let_no_update_begin() noexcept;
  /// Returns whether an update has begun and not ended.
  bool is_updating() const;
  /// Notes that nobody waits any more for the end of an update that is under way. Whether the
  /// weights are whole nevertheless, their stages know.
  void give_up_update() noexcept;
  /// Waits at most `limit_seconds` for the end of an update that is under way, unless it has been
  /// given up or cannot end any more. Returns whether there is none left to wait for.
  bool await_update_end(double limit_seconds);
  /// A stage of the first replica, whose weights the host reads, has done an update. Such a replica
  /// has so many stages; once all of them have done it, it counts.
  void count_update_of_stage(std::size_t stages) noexcept;
  /// Returns the updates that the weights of the first replica have seen.
  std::uint64_t updates() const { return *updates_; }
  /// Updates count on from `updates`.
  void set_updates(std::uint64_t updates) { *updates_ = updates; }

  /// Counts everything that moves: the watchdog's sign of life. Any thread.
  void progress() noexcept { progress_.fetch_add(1, std::memory_order_relaxed); }
  /// Returns another number whenever something has moved, also on watched IPUs. Any thread.
  std::uint64_t progressed() const noexcept;

  /// Returns the seconds for which nothing has moved, as far as can be told from the last time that
  /// somebody asked. Any thread.
  double still_seconds();
  /// Returns the time by the clock that still_seconds() goes by. Any thread.
  Clock::time_point now() const noexcept { return now_(); }

  /// Counts what these IPUs do as progress. To be called once, before the first call.
  void watch(std::vector<std::shared_ptr<const IpuPulse>> ipus) { ipus_ = std::move(ipus); }
  const std::vector<std::shared_ptr<const IpuPulse>>& ipus() const noexcept { return ipus_; }

  /// Notes that nothing has moved since progressed() was `progress`, for a known reason.
  void excuse(std::uint64_t progress);
  /// How often a call has been excused. Any thread.
  std::uint64_t excuses() const;

 private:
  /// The watchdog's answer is waited for, call by call, for so long.
  static constexpr double watchdog_seconds[] = {1, 10};

  /// The mutex is locked in these.
  void throw_failure();
  void expect_no_call() const;
  bool ended() const { return answer_ || failure_; }
  bool excused() const { return excused_ == still_.seen(); }
  void await_end(std::unique_lock<std::mutex>& lock, double quiet_seconds,
                 const Watchdog& watchdog);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool in_call_ = false;
  std::optional<Answer> answer_;
  std::optional<Failure> failure_;
  bool told_ = false;  // a call has thrown the failure
  /// The failure of an engine that is silent. It is made beforehand, for there may be no memory.
  Failure silence_;
  const Stillness::Now now_;
  Stillness still_{now_};
  bool updating_ = false;
  bool update_is_cut_ = false;  // the one under way is waited for no more
  bool ending_ = false;         // no update begins
  std::shared_ptr<std::atomic<std::uint64_t>> updates_;
  std::size_t stages_updated_ = 0;        // of the first replica, in the update under way
  std::optional<std::uint64_t> excused_;  // that nothing has moved since progressed() was this
  std::uint64_t excuses_ = 0;
  std::vector<std::shared_ptr<const IpuPulse>> ipus_;
  std::atomic<std::uint64_t> progress_{0};
};

}  // namespace penstock::actors
