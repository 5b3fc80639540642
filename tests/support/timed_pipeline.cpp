#include "tests/support/timed_pipeline.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "actors/pipeline/device_actor.hpp"

namespace penstock::testing {
namespace {

using actors::DeviceHandle;

constexpr std::int64_t tick_ns = 1'000'000;
constexpr int ticks_at_most = 10'000;

/// Returns the behavior of an actor that takes the place of `ipu`. The actor lets a program wait
/// until the program's virtual time is over; only then is the program sent to `ipu`, which runs it.
DeviceHandle::behavior_type timed_ipu(DeviceHandle::pointer self, DeviceHandle ipu,
                                      graph::StageCost cost, std::shared_ptr<VirtualTime> time) {
  return {[=](actors::RunProgram& request) {
            const auto& [direction, micro_batch] = request.work;
            const graph::Run run{
                .duration = direction == Direction::forward ? cost.forward : cost.backward,
                .stage = static_cast<int>(request.arena->number()),
                .direction = direction,
                .micro_batch = static_cast<int>(micro_batch)};
            time->waiting.push_back({run, time->now, ipu, std::move(request)});
          },
          [=](actors::BringWeights& request) { self->send(ipu, std::move(request)); },
          [=](actors::RunUpdate& request) { self->send(ipu, std::move(request)); }};
}

DeterministicRun order_of(actors::ActorSystem& system, std::optional<std::uint64_t> seed) {
  return seed ? DeterministicRun(system, *seed) : DeterministicRun(system);
}

}  // namespace

TimedPipeline::TimedPipeline(const SmallEngineOptions& options, std::vector<graph::StageCost> costs,
                             std::optional<std::uint64_t> seed, int processors)
    : cast_(options), order_(order_of(cast_.system(), seed)), processors_(processors) {
  if (costs.size() != cast_.plan().stages.size())
    throw std::logic_error("a timed pipeline: expected one cost for each stage");
  for (std::size_t stage = 0; stage < costs.size(); ++stage) put_on_own_ipu(stage, costs[stage]);
  order_.run();
}

TimedPipeline::~TimedPipeline() {
  for (const DeviceHandle& ipu : ipus_) caf::anon_send_exit(ipu, caf::exit_reason::user_shutdown);
}

void TimedPipeline::put_on_own_ipu(std::size_t stage, const graph::StageCost& cost) {
  actors::StageLinks links = cast_.stage_links(stage);
  links.device = ipus_.emplace_back(
      cast_.system().spawn(actors::RunsOn::workers, timed_ipu, links.device, cost, time_));
  caf::anon_send(cast_.actor<actors::StageHandle>(cast_.stage_name(stage)), std::move(links));
}

void TimedPipeline::begin_programs() {
  auto& [now, waiting, running, done] = *time_;
  while (!waiting.empty() && (processors_ == 0 || std::ssize(running) < processors_)) {
    running.push_back(std::move(waiting.front()));
    waiting.erase(waiting.begin());
    running.back().run.time = running.back().run.slot = now;
  }
}

bool TimedPipeline::end_programs() {
  auto& [now, waiting, running, done] = *time_;
  const auto ended =
      std::stable_partition(running.begin(), running.end(), [this](const TimedProgram& program) {
        return program.run.time + program.run.duration > time_->now;
      });
  for (auto program = ended; program != running.end(); ++program) {
    caf::anon_send(program->ipu, std::move(program->request));
    done.push_back(std::move(*program));
  }
  const bool any = ended != running.end();
  running.erase(ended, running.end());
  return any;
}

graph::Timeline TimedPipeline::run_window() {
  *time_ = {};
  cast_.begin_windows(1);
  for (;;) {
    order_.run();
    if (cast_.host().answered()) break;
    begin_programs();
    if (end_programs()) continue;
    if (++time_->now > ticks_at_most) throw std::runtime_error("the window does not end");
  }
  cast_.finish();
  graph::Timeline timeline;
  for (const TimedProgram& program : time_->done) timeline.runs.push_back(program.run);
  timeline.total_time = time_->now;
  std::ranges::stable_sort(timeline.runs, {},
                           [](const graph::Run& run) { return std::pair(run.time, run.stage); });
  for (std::size_t stage = 0; stage < ipus_.size(); ++stage)
    timeline.ipus.push_back(static_cast<int>(stage));
  return timeline;
}

std::vector<TraceEvent> TimedPipeline::take_events() {
  std::vector<TraceEvent> events;
  for (const auto& status : cast_.cast().statuses) status->take().trace.append_to(events);
  for (TraceEvent& event : events) {
    event.ready_ns = event.begin_ns = event.end_ns = time_->now * tick_ns;
    for (const auto& [run, asked, ipu, request] : time_->done) {
      const bool is_backward = run.direction == Direction::backward;
      if (run.stage != event.stage || run.micro_batch != event.micro_batch ||
          event.activity != (is_backward ? Activity::backward : Activity::forward))
        continue;
      event.ready_ns = asked * tick_ns;
      event.begin_ns = static_cast<std::int64_t>(run.time) * tick_ns;
      event.end_ns = static_cast<std::int64_t>(run.time + run.duration) * tick_ns;
    }
  }
  std::ranges::sort(events, {},
                    [](const TraceEvent& event) { return std::pair(event.begin_ns, event.ipu); });
  return events;
}

}  // namespace penstock::testing
