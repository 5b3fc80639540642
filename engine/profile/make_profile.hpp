// make_profile() completes what was measured of a running model by its memory, by what the
// simulator predicts, and by advice.
#pragma once

#include <cstdint>
#include <span>

#include "engine/profile/profile_recorder.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/profile.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// Says what a profile tells besides what was measured.
struct ProfileContext {
  const graph::Plan& plan;
  const CompileReport& compile;
  std::span<const StageReport> stages;  ///< Has the reports of all stages, replica by replica.
  std::int64_t ipu_memory_bytes = 0;    ///< Is `Topology::ipu_memory_bytes`.
};

/// Returns the profile of a model of which `recorder` has recorded the calls. `events` are the
/// newest, in order of time; those of other calls are left out.
Profile make_profile(const ProfileRecorder& recorder, std::vector<TraceEvent> events,
                     const ProfileContext& context);

}  // namespace penstock
