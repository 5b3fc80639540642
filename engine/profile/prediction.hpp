// A prediction runs the simulator with the costs that a profile has measured, to say how long a
// pipeline should take, and how long it would take with other options. All functions are pure.
#pragma once

#include "graph/plan/plan.hpp"
#include "graph/plan/schedules/simulator.hpp"
#include "penstock/profile.hpp"

namespace penstock {

/// Returns the simulation of one window of one replica (in inference: of a call of average length),
/// whose stages cost the seconds that `profile` has measured. The replicas share
/// `profile.processors` equally.
graph::Simulation measured_pipeline(const graph::Plan& plan, const Profile& profile);

/// Returns a simulation of the same stages under another schedule, without phases.
graph::Simulation with_schedule(const graph::Simulation& simulation,
                                const graph::Schedule& schedule);

/// Returns the seconds that a window takes in the simulation; 0 if nothing was measured.
double window_seconds(const graph::Simulation& simulation);

/// Returns which share of the IPUs' time is idle in the simulation, from 0 to 1.
double predicted_bubble(const graph::Simulation& simulation);

/// Returns the share of the time in which IPUs are idle if all stages take equally long:
/// (p-1)/(m+p-1) for p stages and m micro-batches.
double closed_form_bubble(int stages, int micro_batches);

}  // namespace penstock
