#include "engine/model_trace.hpp"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

std::vector<TraceEvent> in_order_of_time(std::vector<TraceEvent> events) {
  std::ranges::sort(events, {},
                    [](const TraceEvent& event) { return std::pair(event.begin_ns, event.ipu); });
  return events;
}

}  // namespace

ModelTrace::ModelTrace(const actors::PipelineSetup& setup, ModelTrace* host)
    : host_(host), newest_(host ? host->newest_ : std::make_shared<Newest>(setup.trace_events)) {
  if (setup.trace && !host)
    profile_.emplace(setup.plan, setup.replicas, setup.gradient_accumulation, setup.trace_events);
}

StageNotes ModelTrace::take(std::span<const actors::StageStatus> statuses) {
  StageNotes notes;
  for (const actors::StageStatus& status : statuses) notes.dropped += status.trace.dropped();
  try {
    for (const actors::StageStatus& status : statuses) status.trace.append_to(notes.events);
  } catch (...) {
    // Without memory to put the events in order of time, they are added stage by stage.
    for (const actors::StageStatus& status : statuses)
      newest_->events.add(status.trace, earlier_micro_batches_);
    newest_->dropped = newest_->events.dropped();
    throw;
  }
  for (TraceEvent& event : notes.events) event.micro_batch = numbered(event.micro_batch);
  notes.events = in_order_of_time(std::move(notes.events));
  for (const TraceEvent& event : notes.events) newest_->events.add(event);
  newest_->events.count_dropped(notes.dropped);
  newest_->dropped = newest_->events.dropped();
  for (const actors::StageStatus& status : statuses) notes.reports.push_back(status.report);
  return notes;
}

void ModelTrace::add_call(const CallSpan& call, std::int64_t samples, const StageNotes& notes) {
  if (host_) host_->profile_->count_short_call(call.begin_ns);
  if (!profile_) return;
  profile_->note_in_flight(notes.reports);
  if (notes.dropped > 0)
    // Without the lost events, the others do not show the whole call.
    profile_->count_lost(notes.dropped);
  else
    profile_->add_call(call, samples, notes.events);
}

void ModelTrace::add_actors(std::span<const graph::StageProgramTimes> programs,
                            const actors::EventLog<HostEvent>& events) {
  if (!profile_) return;
  profile_->add_program_times(programs);
  profile_->add_host_events(events, earlier_micro_batches_);
}

void ModelTrace::note_recovery(const HostEvent& recovery) noexcept {
  std::optional<ProfileRecorder>& profile = host_ ? host_->profile_ : profile_;
  if (!profile) return;
  actors::EventLog<HostEvent> one(1);
  one.add(recovery);
  profile->add_host_events(one, 0);
}

void ModelTrace::leave(std::int64_t now_ns) noexcept {
  std::optional<ProfileRecorder>& profile = host_ ? host_->profile_ : profile_;
  if (profile) profile->leave(now_ns);
}

std::vector<TraceEvent> ModelTrace::events() const {
  std::vector<TraceEvent> events;
  newest_->events.append_to(events);
  return in_order_of_time(std::move(events));
}

std::vector<TraceEvent> ModelTrace::take_events() {
  return in_order_of_time(newest_->events.take());
}

}  // namespace penstock
