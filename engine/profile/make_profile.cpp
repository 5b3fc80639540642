#include "engine/profile/make_profile.hpp"

#include <algorithm>
#include <utility>

#include "engine/profile/advice.hpp"
#include "engine/profile/memory_profile.hpp"
#include "engine/profile/prediction.hpp"

namespace penstock {
namespace {

/// Removes the events that belong to none of the profile's calls, because they are events of a
/// short call.
void leave_out_other_calls(Profile& profile) {
  auto call = profile.window.begin();
  std::erase_if(profile.events, [&](const TraceEvent& event) {
    while (call != profile.window.end() && call->end_ns < event.begin_ns) ++call;
    return call == profile.window.end() || event.begin_ns < call->begin_ns;
  });
}

}  // namespace

Profile make_profile(const ProfileRecorder& recorder, std::vector<TraceEvent> events,
                     const ProfileContext& context) {
  Profile profile = recorder.measured();
  profile.events = std::move(events);
  leave_out_other_calls(profile);
  profile.older_events = recorder.recorded_events() -
                         std::min<std::uint64_t>(recorder.recorded_events(), profile.events.size());
  profile.compile = context.compile;
  const int ipus = static_cast<int>(profile.ipus.size());
  profile.processors =
      std::max(1, context.processors > 0 ? std::min(context.processors, ipus) : ipus);
  add_memory(profile, context.plan, context.stages, context.ipu_memory_bytes);
  const graph::Simulation pipeline = measured_pipeline(context.plan, profile);
  profile.bubble.predicted = predicted_bubble(pipeline);
  profile.bubble.closed_form = closed_form_bubble(pipeline.stages, pipeline.micro_batches);
  profile.advice = advice_on(profile, context.plan);
  return profile;
}

}  // namespace penstock
