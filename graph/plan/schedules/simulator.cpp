#include "graph/plan/schedules/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "graph/plan/schedules/pipeline_state.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw Error(Errc::invalid_argument, "pipeline simulation: " + what);
}

void validate(const Simulation& simulation) {
  const auto count = [](int n, const char* what) {
    require(n >= 1, std::string("expected at least one ") + what + ", got " + std::to_string(n));
  };
  const auto per_stage = [&](std::size_t n, const char* what) {
    require(n == 0 || n == static_cast<std::size_t>(simulation.stages),
            "expected one " + std::string(what) + " for each of " +
                std::to_string(simulation.stages) + " stages, got " + std::to_string(n));
  };
  const auto free_running_only = [&](std::size_t n, const char* what) {
    per_stage(n, what);
    require(n == 0 || simulation.discipline == Discipline::free_running,
            "in lock step a stage has no " + std::string(what) + " of its own");
  };
  count(simulation.stages, "stage");
  count(simulation.micro_batches, "micro-batch");
  count(simulation.phases.turn, "micro-batch in a phase's turn");
  per_stage(simulation.costs.size(), "cost");
  free_running_only(simulation.phases.of_stage.size(), "phase");
  free_running_only(simulation.ipus.size(), "IPU");
  require(simulation.processors >= 0,
          "expected at least one processor, or 0 for one per IPU, got " +
              std::to_string(simulation.processors));
  for (const auto [forward, backward] : simulation.costs)
    require(std::isfinite(forward) && std::isfinite(backward) && forward >= 0 && backward >= 0,
            "expected finite costs of at least 0");
}

PipelineState empty_pipeline(const Simulation& simulation) {
  return {simulation.schedule, simulation.phases, simulation.stages, simulation.micro_batches,
          simulation.training};
}

std::vector<int> placement(const Simulation& simulation) {
  if (!simulation.ipus.empty()) return simulation.ipus;
  std::vector<int> ipus;
  for (int stage = 0; stage < simulation.stages; ++stage) ipus.push_back(stage);
  return ipus;
}

double cost_of(const Simulation& simulation, int stage, Direction direction) {
  if (simulation.costs.empty()) return 1;
  const StageCost& cost = simulation.costs[static_cast<std::size_t>(stage)];
  return direction == Direction::forward ? cost.forward : cost.backward;
}

Timeline finished(const Simulation& simulation, const PipelineState& state, std::vector<Run> runs,
                  double total_time) {
  std::ranges::stable_sort(runs, [](const Run& a, const Run& b) {
    return a.time != b.time ? a.time < b.time : a.stage < b.stage;
  });
  return {.runs = std::move(runs),
          .ipus = placement(simulation),
          .max_in_flight = state.max_in_flight(),
          .total_time = total_time,
          .stalled = state.done() ? std::vector<Wait>() : state.waits()};
}

int units_of_slot(Discipline discipline) {
  return discipline == Discipline::tf_interleaved_slot ? 1 : 2;
}

/// Returns the direction in which a stage may run in a unit of time, in lock step.
Direction direction_of(Discipline discipline, int unit, int stage) {
  const bool even = unit % 2 == 0;
  const bool forward = discipline == Discipline::popart_cycle      ? even
                       : discipline == Discipline::tf_grouped_step ? !even
                                                                   : (unit - stage) % 2 == 0;
  return forward ? Direction::forward : Direction::backward;
}

/// Sets the times of `runs`, which are in the order of their slots, by the costs of the stages.
/// Within a slot, the runs of a stage follow one another; the next slot begins when all runs of the
/// slot have ended. Returns the time at the end of the last slot.
double meet_after_each_slot(const Simulation& simulation, std::vector<Run>& runs) {
  std::vector<double> free_at(simulation.costs.size(), 0);
  double begin = 0, end = 0;
  int slot = 0;
  for (Run& run : runs) {
    if (run.slot != slot) begin = end;
    slot = run.slot;
    double& free = free_at[static_cast<std::size_t>(run.stage)];
    run.time = std::max(begin, free);
    run.duration = cost_of(simulation, run.stage, run.direction);
    free = run.time + run.duration;
    end = std::max(end, free);
  }
  return end;
}

Timeline simulate_lock_step(const Simulation& simulation) {
  const int slot = units_of_slot(simulation.discipline);
  PipelineState state = empty_pipeline(simulation);
  std::vector<Run> runs;
  int unit = 0;
  // Within four units, every stage may run in both directions after a publish(). If nothing has run
  // in four units, the pipeline is stuck.
  for (int idle = 0; unit % slot != 0 || (!state.done() && idle < 4); ++unit, ++idle) {
    for (int stage = 0; stage < state.stages(); ++stage) {
      const Direction direction = direction_of(simulation.discipline, unit, stage);
      if (!state.ready(stage, direction)) continue;
      runs.push_back({static_cast<double>(unit), 1, stage, direction, state.start(stage, direction),
                      unit / slot});
      state.finish(stage, direction);
      idle = -1;
    }
    if ((unit + 1) % slot == 0) state.publish();
  }
  const double total_time =
      simulation.costs.empty() ? unit : meet_after_each_slot(simulation, runs);
  return finished(simulation, state, std::move(runs), total_time);
}

class FreeRunning {
 public:
  explicit FreeRunning(const Simulation& simulation)
      : simulation_(simulation),
        ipus_(placement(simulation)),
        state_(empty_pipeline(simulation)),
        waiting_since_(ipus_.size()) {}

  Timeline run() {
    note_ready();
    do {
      while (const auto stage = next_stage()) start(*stage);
    } while (advance());
    return finished(simulation_, state_, std::move(runs_), time_);
  }

 private:
  std::optional<Direction> choice(int stage) const {
    return next_direction(simulation_.schedule, state_.forward_ready(stage),
                          state_.backward_ready(stage));
  }

  int ipu(int stage) const { return ipus_[static_cast<std::size_t>(stage)]; }
  double end(std::size_t run) const { return runs_[run].time + runs_[run].duration; }

  bool ipu_busy(int stage) const {
    return std::ranges::any_of(
        active_, [&](std::size_t run) { return ipu(runs_[run].stage) == ipu(stage); });
  }
  bool stage_busy(int stage) const {
    return std::ranges::any_of(active_, [&](std::size_t run) { return runs_[run].stage == stage; });
  }

  /// Notes since when stages wait for their IPUs: a stage begins to wait when it has work and does
  /// not run.
  void note_ready() {
    state_.publish();
    for (int stage = 0; stage < simulation_.stages; ++stage) {
      auto& since = waiting_since_[static_cast<std::size_t>(stage)];
      if (stage_busy(stage) || !choice(stage))
        since.reset();
      else if (!since)
        since = time_;
    }
  }

  /// Returns the stage that starts next, which is the one with a free IPU that has waited longest,
  /// or nothing if no stage can start.
  std::optional<int> next_stage() const {
    std::optional<int> best;
    if (simulation_.processors > 0 && std::ssize(active_) == simulation_.processors) return best;
    for (int stage = simulation_.stages - 1; stage >= 0; --stage) {
      const auto since = waiting_since_[static_cast<std::size_t>(stage)];
      if (!since || ipu_busy(stage)) continue;
      if (!best || since < waiting_since_[static_cast<std::size_t>(*best)]) best = stage;
    }
    return best;
  }

  void start(int stage) {
    const Direction direction = *choice(stage);
    active_.push_back(runs_.size());
    runs_.push_back({time_, cost_of(simulation_, stage, direction), stage, direction,
                     state_.start(stage, direction)});
    note_ready();
  }

  /// Moves the time to the next end of a run, and ends the runs that end then. Returns false if
  /// nothing runs.
  bool advance() {
    if (active_.empty()) return false;
    time_ =
        end(*std::ranges::min_element(active_, {}, [this](std::size_t run) { return end(run); }));
    std::erase_if(active_, [this](std::size_t run) {
      if (end(run) > time_) return false;
      state_.finish(runs_[run].stage, runs_[run].direction);
      return true;
    });
    note_ready();
    return true;
  }

  const Simulation& simulation_;
  std::vector<int> ipus_;
  PipelineState state_;
  std::vector<Run> runs_;
  /// `active_` has the positions in `runs_` of runs in progress.
  std::vector<std::size_t> active_;
  /// `waiting_since_` says, for each stage that waits for its IPU, since when it waits.
  std::vector<std::optional<double>> waiting_since_;
  double time_ = 0;
};

}  // namespace

Timeline simulate(const Simulation& simulation) {
  validate(simulation);
  return simulation.discipline == Discipline::free_running ? FreeRunning(simulation).run()
                                                           : simulate_lock_step(simulation);
}

}  // namespace penstock::graph
