// HostPort: where the engine answers the host's one call at a time, and where failures are kept.
// Any thread; the host's thread is the only one that waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/execution/weight_update.hpp"
#include "penstock/error.hpp"
#include "penstock/report.hpp"
#include "penstock/tensor.hpp"
#include "penstock/trace.hpp"

namespace penstock::actors {

/// One stage's answer to a call for reports.
struct StageStatus {
  StageReport report = {};
  std::vector<TraceEvent> trace = {};
};

using Outputs = std::vector<Tensor>;    ///< in the order of Plan::outputs
using Variables = std::vector<Tensor>;  ///< in the order of Plan::variables
struct Done {};
using Answer = std::variant<Done, std::vector<Tensor>, std::vector<StageStatus>, OptimizerTensors>;

struct Failure {
  Errc code = Errc::internal;
  std::string text = {};
  bool stops_update = false;  ///< an update that is under way will not end any more
};

class HostPort {
 public:
  /// Forgets the last answer. @throws Error closed if the engine has failed before.
  void begin_call();
  bool in_call() const;
  void answer(Answer answer);
  /// The first failure stays: it ends this call, and every later one says what it was.
  void fail(const Failure& failure);
  bool answered() const;
  bool failed() const;

  /// Waits for the answer. @throws Error with the failure; stalled if nothing has moved for
  /// `quiet_seconds` and neither an answer nor a failure has come: the watchdog itself is gone.
  Answer wait(double quiet_seconds);

  /// Weights are about to change; false if they must not any more, for the model has failed. An
  /// update that has begun is finished by all stages whatever fails meanwhile, so that they agree.
  bool update_begins();
  void update_ended();
  /// Updates that all stages have done, since the model was built.
  std::uint64_t updates() const;
  /// Waits until no update is under way that can still end, at most `limit_seconds`.
  void await_update_end(double limit_seconds);

  /// Counts everything that moves: the watchdog's sign of life. Any thread.
  void progress() noexcept { progress_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t progressed() const noexcept { return progress_.load(std::memory_order_relaxed); }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool in_call_ = false;
  std::optional<Answer> answer_;
  std::optional<Failure> failure_;
  bool updating_ = false;
  std::uint64_t updates_ = 0;
  std::atomic<std::uint64_t> progress_{0};
};

}  // namespace penstock::actors
