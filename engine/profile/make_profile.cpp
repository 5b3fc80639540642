#include "engine/profile/make_profile.hpp"

#include <algorithm>

#include "engine/profile/advice.hpp"
#include "engine/profile/memory_profile.hpp"
#include "engine/profile/prediction.hpp"

namespace penstock {

Profile make_profile(const ProfileRecorder& recorder, const ProfileContext& context) {
  Profile profile = recorder.measured();
  profile.compile = context.compile;
  const int ipus = static_cast<int>(profile.ipus.size());
  profile.processors =
      std::max(1, context.compile.threads > 0 ? std::min(context.compile.threads, ipus) : ipus);
  add_memory(profile, context.plan, context.stages, context.ipu_memory_bytes);
  const graph::Simulation pipeline = measured_pipeline(context.plan, profile);
  profile.bubble.predicted = predicted_bubble(pipeline);
  profile.bubble.closed_form = closed_form_bubble(pipeline.stages, pipeline.micro_batches);
  profile.advice = advice_on(profile, context.plan);
  return profile;
}

}  // namespace penstock
