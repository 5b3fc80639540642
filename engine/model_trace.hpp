// A ModelTrace keeps what a model, and the models for its other calls, have recorded: the newest
// events, and sums over the model's full calls. It does not ask the actors; its functions are given
// what the actors have noted. The thread that calls the model uses it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actors/execution/pipeline_setup.hpp"
#include "actors/execution/status_board.hpp"
#include "actors/execution/trace_log.hpp"
#include "engine/profile/call_times.hpp"
#include "engine/profile/profile_recorder.hpp"
#include "graph/plan/program.hpp"
#include "penstock/report.hpp"
#include "penstock/trace.hpp"

namespace penstock {

/// StageNotes are the reports of the stages, and what the stages have recorded since they were
/// asked last.
struct StageNotes {
  std::vector<StageReport> reports = {};
  std::vector<TraceEvent> events = {};  ///< `events` are in order of time.
  std::uint64_t dropped = 0;            ///< The stages had no room for this many events.
};

class ModelTrace {
 public:
  /// Makes a trace of no model. A trace of a model must be assigned to it before it is used.
  ModelTrace() = default;
  /// Makes the trace of a model that runs as `setup` says. If the model runs the other calls of
  /// another model, `host` is the trace of that model; otherwise it is null.
  ModelTrace(const actors::PipelineSetup& setup, ModelTrace* host);

  /// Adds the events of `statuses` to the trace, and returns them with the reports. The events are
  /// added even if the function throws. @throws std::bad_alloc
  StageNotes take(std::span<const actors::StageStatus> statuses);
  /// Adds a call that took `samples` samples to the profile, if there is one. If events of the call
  /// were lost, only their number is added. A call of another plan is only
  /// counted. @throws std::bad_alloc
  void add_call(const CallSpan& call, std::int64_t samples, const StageNotes& notes);
  /// Adds what the programs of each stage and the actors without an IPU have measured.
  void add_actors(std::span<const graph::StageProgramTimes> programs,
                  const actors::EventLog<HostEvent>& events);
  /// Notes that a call has failed, and that other actors go on with it.
  void note_recovery(const HostEvent& recovery) noexcept;
  /// Notes that a call has returned, and that the host goes on at `now_ns`.
  void leave(std::int64_t now_ns) noexcept;
  /// Notes that the actors have ended, after the model has given them `micro_batches`
  /// micro-batches. New actors will count from 0 again.
  void count_ended(std::int64_t micro_batches) noexcept { earlier_micro_batches_ += micro_batches; }

  /// Returns the model's number of the micro-batch that is number `number` of the present actors.
  /// The model's numbers go on when its actors end and new ones begin.
  std::int64_t numbered(std::int64_t number) const noexcept {
    return earlier_micro_batches_ + number;
  }
  /// Returns the sums over the model's full calls, or null if this model runs the other calls
  /// of another model, or if nothing is recorded.
  const ProfileRecorder* profile() const noexcept { return profile_ ? &*profile_ : nullptr; }
  /// Returns the newest events, in order of time.
  std::vector<TraceEvent> events() const;
  /// Returns the newest events, in order of time, and forgets them.
  std::vector<TraceEvent> take_events();
  /// Returns how many events were dropped for lack of room or memory. Any thread may call the
  /// function.
  std::uint64_t dropped() const noexcept { return newest_->dropped; }

 private:
  struct Newest {
    explicit Newest(std::int64_t most) : events(most) {}
    actors::TraceLog events;  // `events` has the events that were not taken yet.
    // `dropped` counts the events that were dropped here or by the stages.
    std::atomic<std::uint64_t> dropped{0};
  };

  ModelTrace* host_ = nullptr;
  // `newest_` is shared by the traces of a model and of the models for its other calls.
  std::shared_ptr<Newest> newest_;
  std::optional<ProfileRecorder> profile_;
  // This many micro-batches were given to actors that have ended.
  std::int64_t earlier_micro_batches_ = 0;
};

}  // namespace penstock
