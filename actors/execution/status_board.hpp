// On a StatusBoard, one stage of one replica notes what it has done. The stage's actor writes on
// whatever thread it runs on, and the host's thread reads. A lock keeps the two threads apart,
// because a stage may end its last work after the host has the call's answer. The board does not
// use CAF.
#pragma once

#include <cstdint>
#include <mutex>

#include "actors/execution/trace_log.hpp"
#include "penstock/report.hpp"
#include "penstock/trace.hpp"

namespace penstock::actors {

/// A StageStatus is what a stage has noted.
struct StageStatus {
  StageReport report = {};
  TraceLog trace = {};  ///< This has the events since the last StatusBoard::take().
};

class StatusBoard {
 public:
  /// Makes a board that has `report` and no events, and keeps at most `most_events` events.
  StatusBoard(const StageReport& report, std::int64_t most_events)
      : status_{report, TraceLog(most_events)} {}

  /// Calls `change` with the report. Nobody else reads or writes the report meanwhile.
  void note(const auto& change) {
    const std::lock_guard lock(mutex_);
    change(status_.report);
  }
  /// Adds `event` to the trace. If there is no memory for the event, it counts as dropped.
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
