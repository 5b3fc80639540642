#include "engine/profile/profile_recorder.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "graph/plan/replica_ipus.hpp"

namespace penstock {
namespace {

/// At most this many calls, the newest ones, are listed one by one.
constexpr std::size_t most_calls = 1 << 16;

void add_run(RunTimes& times, double seconds) {
  times.least_seconds = times.runs == 0 ? seconds : std::min(times.least_seconds, seconds);
  times.most_seconds = std::max(times.most_seconds, seconds);
  times.seconds += seconds;
  ++times.runs;
}

/// Appends a row for each instruction of a program that ran `runs` times.
void append_ops(std::vector<OpProfile>& rows, int stage, bool backward,
                const graph::Program& program, const graph::ProgramTimes& times,
                std::uint64_t runs) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const graph::Instruction& instruction = program.instructions[i];
    const bool timed = times.runs > 0 && i < times.nanoseconds.size();
    const double mean =
        timed ? static_cast<double>(times.nanoseconds[i]) * 1e-9 / static_cast<double>(times.runs)
              : 0;
    rows.push_back({.stage = stage,
                    .backward = backward,
                    .recomputed = backward && instruction.recomputed,
                    .name = instruction.name,
                    .op = std::string(instruction.op->name),
                    .flops = graph::cost_of(instruction).flops,
                    .timed_runs = timed ? times.runs : 0,
                    .mean_seconds = mean,
                    .seconds = mean * static_cast<double>(runs)});
  }
}

}  // namespace

ProfileRecorder::ProfileRecorder(std::shared_ptr<const graph::Plan> plan, std::int64_t replicas,
                                 std::int64_t gradient_accumulation, std::int64_t most_host_events)
    : plan_(std::move(plan)),
      replicas_(replicas),
      gradient_accumulation_(gradient_accumulation),
      windows_(0, 0),
      program_times_(plan_->stages.size()),
      host_events_(most_host_events) {
  const graph::ReplicaIpus placed(*plan_, replicas);
  std::set<int> used;
  for (std::size_t stage = 0; stage < plan_->stages.size(); ++stage) {
    const graph::StagePlan& of_plan = plan_->stages[stage];
    StageProfile& row = stages_.emplace_back();
    row.stage = static_cast<int>(stage);
    row.blocks = of_plan.blocks;
    row.in_flight_limit = of_plan.in_flight;
    row.stash_bytes = graph::micro_batch_bytes(of_plan);
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      row.ipus.push_back(static_cast<int>(placed.of(replica, stage)));
      used.insert(row.ipus.back());
    }
  }
  for (const int ipu : used) ipus_.add_ipu(ipu);
  windows_ = WindowTimes(std::ssize(used), plan_->training ? gradient_accumulation : 0);
}

void ProfileRecorder::add_call(const CallSpan& call, std::int64_t samples,
                               std::span<const TraceEvent> events) {
  // Before the events of this call there may be events of a call that failed, of which there is no
  // report.
  const auto begin = std::ranges::lower_bound(events, call.begin_ns, {}, &TraceEvent::begin_ns);
  const auto end = std::ranges::upper_bound(events, call.end_ns, {}, &TraceEvent::begin_ns);
  const std::span<const TraceEvent> events_of_call(begin, end);
  const CallProfile row{call.begin_ns, call.end_ns, call.first_micro_batch, call.micro_batches};
  if (calls_.size() == calls_.capacity() && calls_.size() < most_calls)
    calls_.reserve(std::max<std::size_t>(64, 2 * calls_.size()));
  windows_.add_call(call, events_of_call);
  if (calls_.size() < most_calls)
    calls_.push_back(row);
  else
    calls_[call_count_ % most_calls] = row;
  // From here on nothing can fail.
  ipus_.add_call(call.begin_ns, call.end_ns, events_of_call);
  for (const TraceEvent& event : events_of_call) {
    const std::int64_t number = event.micro_batch - call.first_micro_batch;
    if (number >= 0 && number < call.micro_batches) add_event(event);
  }
  ++call_count_;
  recorded_events_ += events_of_call.size();
  add_time_between(call.begin_ns);
  micro_batches_ += call.micro_batches * replicas_;
  samples_ += samples;
  call_seconds_ += seconds_between(call.begin_ns, call.end_ns);
}

void ProfileRecorder::note_in_flight(std::span<const StageReport> reports) noexcept {
  for (const StageReport& report : reports) {
    int& most = stages_[graph::index(report.stage)].max_in_flight;
    most = std::max(most, report.max_in_flight);
  }
}

void ProfileRecorder::count_short_call(std::int64_t begin_ns) noexcept {
  ++short_calls_;
  add_time_between(begin_ns);
}

void ProfileRecorder::add_time_between(std::int64_t begin_ns) noexcept {
  if (left_ns_ > 0) between_ns_ += std::max<std::int64_t>(0, begin_ns - left_ns_);
}

void ProfileRecorder::add_event(const TraceEvent& event) {
  StageProfile& stage = stages_[graph::index(event.stage)];
  const double seconds = seconds_between(event.begin_ns, event.end_ns);
  if (event.activity == Activity::forward) add_run(stage.forward, seconds);
  if (event.activity == Activity::backward) add_run(stage.backward, seconds);
  if (event.activity == Activity::update || event.activity == Activity::exchange)
    add_run(stage.update, seconds);
  if (is_program(event)) stage.sent_bytes += event.bytes;
}

void ProfileRecorder::add_program_times(std::span<const graph::StageProgramTimes> stages) {
  for (std::size_t i = 0; i < stages.size(); ++i) graph::add_times(program_times_[i], stages[i]);
}

std::vector<OpProfile> ProfileRecorder::ops() const {
  std::vector<OpProfile> rows;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const graph::StagePlan& plan = plan_->stages[i];
    const int stage = static_cast<int>(i);
    append_ops(rows, stage, false, plan.forward, program_times_[i].forward,
               stages_[i].forward.runs);
    append_ops(rows, stage, true, plan.backward, program_times_[i].backward,
               stages_[i].backward.runs);
  }
  return rows;
}

Profile ProfileRecorder::measured() const {
  Profile profile{.model = plan_->name,
                  .training = plan_->training,
                  .schedule = std::string(plan_->schedule->name),
                  .replicas = static_cast<int>(replicas_),
                  .batch_size = static_cast<int>(plan_->batch),
                  .gradient_accumulation = static_cast<int>(gradient_accumulation_),
                  .calls = call_count_,
                  .short_calls = short_calls_,
                  .micro_batches = micro_batches_,
                  .samples = samples_,
                  .call_seconds = call_seconds_,
                  .elapsed_seconds = call_seconds_ + static_cast<double>(between_ns_) * 1e-9,
                  .stages = stages_,
                  .ops = ops(),
                  .window = calls_,
                  .dropped_events = lost_};
  profile.bubble.measured = windows_.bubble();
  host_events_.append_to(profile.host_events);
  std::ranges::sort(profile.window, {}, &CallProfile::begin_ns);
  for (const auto& [ipu, seconds] : ipus_.of_ipus())
    profile.ipus.push_back({.ipu = ipu, .seconds = seconds});
  double programs = 0;
  for (const StageProfile& stage : profile.stages)
    programs += stage.forward.seconds + stage.backward.seconds;
  for (StageProfile& stage : profile.stages)
    if (programs > 0) stage.share = (stage.forward.seconds + stage.backward.seconds) / programs;
  return profile;
}

}  // namespace penstock
