// make_profile() makes the profile of a running model. It adds the use of memory, the simulator's
// predictions and advice to what was measured.
#pragma once

#include <cstdint>
#include <span>

#include "engine/profile/profile_recorder.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/profile.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// A ProfileContext has what make_profile() needs besides what was measured.
struct ProfileContext {
  const graph::Plan& plan;
  const CompileReport& compile;
  /// `stages` has the reports of all stages, replica by replica.
  std::span<const StageReport> stages;
  /// The IPUs share this many processors; 0 says that each IPU has its own.
  int processors = 0;
  std::int64_t ipu_memory_bytes = 0;  ///< `ipu_memory_bytes` is `Topology::ipu_memory_bytes`.
};

/// Returns the profile of a model whose calls `recorder` has recorded. `events` are the model's
/// newest events, in order of time; events of calls that were not recorded are left out.
Profile make_profile(const ProfileRecorder& recorder, std::vector<TraceEvent> events,
                     const ProfileContext& context);

}  // namespace penstock
