// A ModelTrace keeps what a model and those for its short calls have recorded: the newest events,
// and what the calls of the model's own plan add up to. It asks nobody: it is given what the actors
// have noted. The thread that calls the model uses it.
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

/// Is what the stages have done, and recorded since they were asked last.
struct StageNotes {
  std::vector<StageReport> reports = {};
  std::vector<TraceEvent> events = {};  ///< Are in order of time.
  std::uint64_t dropped = 0;            ///< Counts the events for which they had no room.
};

class ModelTrace {
 public:
  /// Is for no model yet: another one is assigned to it before anything else is done with it.
  ModelTrace() = default;
  /// Is for a model that runs as `setup` says. `host` has the trace of the model whose short calls
  /// this one runs; it is null if this model's calls are full ones.
  ModelTrace(const actors::PipelineSetup& setup, ModelTrace* host);

  /// Adds the events of `statuses` to the trace, even if it throws. @throws std::bad_alloc
  StageNotes take(std::span<const actors::StageStatus> statuses);
  /// Adds a call that took `samples` samples to the profile, if there is one; a call of which
  /// events were lost is only counted. @throws std::bad_alloc
  void add_call(const CallSpan& call, std::int64_t samples, const StageNotes& notes);
  /// Adds what the programs of each stage and the actors without an IPU have measured.
  void add_actors(std::span<const graph::StageProgramTimes> programs,
                  const actors::EventLog<HostEvent>& events);
  /// Notes that a call has returned, and that the host goes on at `now_ns`.
  void leave(std::int64_t now_ns) noexcept;
  /// Notes that the actors, to which the model has given so many micro-batches, have ended. Others
  /// will count from 0 again.
  void count_ended(std::int64_t micro_batches) noexcept { earlier_micro_batches_ += micro_batches; }

  /// Returns the number that the model gives to a micro-batch to which the actors that it has now
  /// give `number`.
  std::int64_t numbered(std::int64_t number) const noexcept {
    return earlier_micro_batches_ + number;
  }
  /// Returns what the model's full calls add up to; null if this model's calls are short ones, or
  /// if nothing is recorded.
  const ProfileRecorder* profile() const noexcept { return profile_ ? &*profile_ : nullptr; }
  /// Returns the newest events, in order of time.
  std::vector<TraceEvent> events() const;
  /// Returns the newest events, in order of time, and forgets them.
  std::vector<TraceEvent> take_events();
  /// Returns how many events nobody has seen, for lack of room or memory. Any thread may call it.
  std::uint64_t dropped() const noexcept { return newest_->dropped; }

 private:
  struct Newest {
    explicit Newest(std::int64_t most) : events(most) {}
    actors::TraceLog events;                // Has what nobody has taken.
    std::atomic<std::uint64_t> dropped{0};  // Counts events dropped here and by the stages.
  };

  ModelTrace* host_ = nullptr;
  std::shared_ptr<Newest> newest_;  // Is shared with the host, and with others of that host.
  std::optional<ProfileRecorder> profile_;
  std::int64_t earlier_micro_batches_ = 0;  // Counts those of actors that have ended.
};

}  // namespace penstock
