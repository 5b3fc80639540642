#include "engine/profile/prediction.hpp"

#include <algorithm>

#include "graph/plan/schedules/timeline.hpp"

namespace penstock {
namespace {

/// At most this many micro-batches are simulated, even if a window has more.
constexpr std::int64_t most_micro_batches = 2000;

}  // namespace

graph::Simulation measured_pipeline(const graph::Plan& plan, const Profile& profile) {
  std::vector<graph::StageCost> costs;
  std::vector<int> ipus;
  for (const StageProfile& stage : profile.stages) {
    costs.push_back({stage.forward.mean_seconds(), stage.backward.mean_seconds()});
    ipus.push_back(plan.stages[graph::index(stage.stage)].ipu);
  }
  const std::int64_t of_call = profile.calls > 0 ? profile.micro_batches / profile.replicas /
                                                       static_cast<std::int64_t>(profile.calls)
                                                 : 1;
  const std::int64_t micro_batches = profile.training ? profile.gradient_accumulation : of_call;
  return {.schedule = *plan.schedule,
          .stages = static_cast<int>(plan.stages.size()),
          .micro_batches =
              static_cast<int>(std::clamp<std::int64_t>(micro_batches, 1, most_micro_batches)),
          .training = profile.training,
          .costs = std::move(costs),
          .ipus = std::move(ipus),
          .phases = plan.phases,
          .processors = std::max(1, profile.processors / profile.replicas)};
}

graph::Simulation with_schedule(const graph::Simulation& simulation,
                                const graph::Schedule& schedule) {
  return {.schedule = schedule,
          .stages = simulation.stages,
          .micro_batches = simulation.micro_batches,
          .training = simulation.training,
          .costs = simulation.costs,
          .ipus = simulation.ipus,
          .processors = simulation.processors};
}

double window_seconds(const graph::Simulation& simulation) {
  return graph::simulate(simulation).total_time;
}

double predicted_bubble(const graph::Simulation& simulation) {
  const graph::Timeline timeline = graph::simulate(simulation);
  return timeline.total_time > 0 ? 1 - graph::utilization(timeline) : 0;
}

double closed_form_bubble(int stages, int micro_batches) {
  return static_cast<double>(stages - 1) / static_cast<double>(micro_batches + stages - 1);
}

}  // namespace penstock
