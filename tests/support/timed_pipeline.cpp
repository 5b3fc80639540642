#include "tests/support/timed_pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "actors/pipeline/device_actor.hpp"

namespace penstock::testing {
namespace {

using actors::DeviceHandle;

constexpr std::chrono::milliseconds tick{1};
constexpr int ticks_at_most = 10'000;

/// Hands a program on to the `ipu` that really runs it when the program's time is over.
DeviceHandle::behavior_type timed_ipu(DeviceHandle::pointer self, DeviceHandle ipu,
                                      graph::StageCost cost, std::shared_ptr<VirtualTime> time) {
  return {[=](actors::RunProgram& request) {
            const auto& [direction, micro_batch] = request.work;
            const double ticks = direction == Direction::forward ? cost.forward : cost.backward;
            time->runs.push_back({.time = static_cast<double>(time->now),
                                  .duration = ticks,
                                  .stage = static_cast<int>(request.arena->number()),
                                  .direction = direction,
                                  .micro_batch = static_cast<int>(micro_batch),
                                  .slot = time->now});
            self->delayed_send(ipu, static_cast<int>(ticks) * tick, std::move(request));
          },
          [=](actors::BringWeights& request) { self->send(ipu, std::move(request)); },
          [=](actors::RunUpdate& request) { self->send(ipu, std::move(request)); }};
}

DeterministicRun order_of(actors::ActorSystem& system, std::optional<std::uint64_t> seed) {
  return seed ? DeterministicRun(system, *seed) : DeterministicRun(system);
}

}  // namespace

TimedPipeline::TimedPipeline(const SmallEngineOptions& options, std::vector<graph::StageCost> costs,
                             std::optional<std::uint64_t> seed)
    : cast_(options), order_(order_of(cast_.system(), seed)) {
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

graph::Timeline TimedPipeline::run_window() {
  *time_ = {};
  cast_.begin_windows(1);
  for (order_.run(); !cast_.host().answered(); order_.run()) {
    if (++time_->now > ticks_at_most) throw std::runtime_error("the window does not end");
    order_.advance(tick);
  }
  cast_.finish();
  graph::Timeline timeline;
  timeline.runs = time_->runs;
  timeline.total_time = time_->now;
  std::ranges::stable_sort(timeline.runs, {},
                           [](const graph::Run& run) { return std::pair(run.time, run.stage); });
  for (std::size_t stage = 0; stage < ipus_.size(); ++stage)
    timeline.ipus.push_back(static_cast<int>(stage));
  return timeline;
}

}  // namespace penstock::testing
