// On a StatusBoard, one stage of one replica notes what it has done. The stage's actor writes on
// whatever thread it runs, and the host's thread reads. A lock keeps the two apart, because a stage
// may end its last work after the host has its answer. The board does not use CAF.
#pragma once

#include <cstdint>
#include <mutex>

#include "actors/execution/trace_log.hpp"
#include "penstock/report.hpp"
#include "penstock/trace.hpp"

namespace penstock::actors {

/// Holds what a stage has noted.
struct StageStatus {
  StageReport report = {};
  TraceLog trace = {};  ///< Has the events since the status was taken last.
};

class StatusBoard {
 public:
  /// Makes a board with `report` and no event that keeps at most `most_events` events.
  StatusBoard(const StageReport& report, std::int64_t most_events)
      : status_{report, TraceLog(most_events)} {}

  /// Calls `change` with the report, which nobody else reads or writes meanwhile.
  void note(const auto& change) {
    const std::lock_guard lock(mutex_);
    change(status_.report);
  }
  /// Adds an event. An event for which there is no memory counts as dropped.
  void record(const TraceEvent& event) noexcept {
    const std::lock_guard lock(mutex_);
    status_.trace.add(event);
  }
  /// Returns the report and the trace, and forgets the trace. Allocates nothing, so that no event
  /// is lost on the way.
  StageStatus take() noexcept {
    const std::lock_guard lock(mutex_);
    return {status_.report, status_.trace.hand_over()};
  }

 private:
  std::mutex mutex_;
  StageStatus status_;
};

}  // namespace penstock::actors
