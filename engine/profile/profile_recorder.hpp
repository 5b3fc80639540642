// A ProfileRecorder adds up what the calls of a running model have measured, so that the figures
// cover all calls although only the newest events are kept. It is a plain value.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/execution/trace_log.hpp"
#include "engine/profile/call_times.hpp"
#include "engine/profile/ipu_times.hpp"
#include "engine/profile/window_times.hpp"
#include "graph/plan/plan.hpp"
#include "graph/plan/program.hpp"
#include "penstock/profile.hpp"
#include "penstock/report.hpp"

namespace penstock {

class ProfileRecorder {
 public:
  /// Records calls of `plan`, which `replicas` replicas run with windows of `gradient_accumulation`
  /// micro-batches. Of the events of actors without an IPU, the newest `most_host_events` are kept.
  ProfileRecorder(std::shared_ptr<const graph::Plan> plan, std::int64_t replicas,
                  std::int64_t gradient_accumulation, std::int64_t most_host_events = 0);

  /// Adds a call that took `samples` samples. `events` are all events of the call, in order of
  /// time. If memory runs out, nothing is added. @throws std::bad_alloc
  void add_call(const CallSpan& call, std::int64_t samples, std::span<const TraceEvent> events);
  /// Counts a call, or a part of one, that another plan has run and that began at `begin_ns`.
  void count_short_call(std::int64_t begin_ns) noexcept;
  /// Counts events that were lost. The call that they belong to is therefore not added.
  void count_lost(std::uint64_t events) noexcept { lost_ += events; }
  /// Notes how many micro-batches each stage has held at most, stage by stage and replica by
  /// replica.
  void note_in_flight(std::span<const StageReport> reports) noexcept;
  /// Returns how many events all added calls had.
  std::uint64_t recorded_events() const noexcept { return recorded_events_; }
  /// Notes that a call has returned to the host at `now_ns`.
  void leave(std::int64_t now_ns) noexcept { left_ns_ = now_ns; }
  /// Adds the times of the timed runs of each stage's programs, stage by stage.
  void add_program_times(std::span<const graph::StageProgramTimes> stages);

  /// Adds the events of the actors without an IPU. These actors have begun to count micro-batches
  /// anew after `earlier` micro-batches, so that the numbers in their events grow by `earlier`.
  void add_host_events(const actors::EventLog<HostEvent>& events, std::int64_t earlier) noexcept {
    host_events_.add(events, earlier);
  }

  /// Returns everything that was measured. Memory, predictions and advice are left out.
  Profile measured() const;

 private:
  void add_event(const TraceEvent& event);
  /// Adds the time from the end of the last call to `begin_ns`, when the next call began.
  void add_time_between(std::int64_t begin_ns) noexcept;
  std::vector<OpProfile> ops() const;

  std::shared_ptr<const graph::Plan> plan_;
  std::int64_t replicas_;
  std::int64_t gradient_accumulation_;
  IpuTimes ipus_;
  WindowTimes windows_;
  std::vector<StageProfile> stages_;
  // `program_times_` has the times of each stage's programs.
  std::vector<graph::StageProgramTimes> program_times_;
  std::vector<CallProfile> calls_;  // `calls_` has the newest calls, in a ring once it is full.
  std::uint64_t call_count_ = 0;
  std::uint64_t short_calls_ = 0;
  std::int64_t micro_batches_ = 0;
  std::int64_t samples_ = 0;
  double call_seconds_ = 0;
  std::int64_t between_ns_ = 0;  // `between_ns_` is the time that the host spent between calls.
  // `left_ns_` is when the last call returned to the host, or 0 if no call has returned.
  std::int64_t left_ns_ = 0;
  std::uint64_t recorded_events_ = 0;
  std::uint64_t lost_ = 0;
  actors::EventLog<HostEvent> host_events_;
};

}  // namespace penstock
