#include "engine/profile/advice_on_waits.hpp"

#include "graph/values/number_range.hpp"

namespace penstock {
namespace {

/// `least_share` is the least share of the time that waits for one reason must take to be
/// mentioned.
constexpr double least_share = 0.1;
/// `full_share` is the share of an IPU's memory from which on the memory is nearly used up.
constexpr double full_share = 0.9;

/// Returns the share of all IPUs' time that one reason for waiting took.
double share_of(const Profile& profile, WaitReason reason) {
  double waited = 0, total = 0;
  for (const IpuProfile& ipu : profile.ipus) {
    waited += ipu.seconds.of(reason);
    total += ipu.seconds.total();
  }
  return total > 0 ? waited / total : 0;
}

std::string on_processors(const Profile& profile, const std::string& share) {
  const std::size_t ipus = profile.ipus.size();
  return "Work was ready " + share +
         " of the time and waited for a processor or for its message: " + std::to_string(ipus) +
         (ipus == 1 ? " IPU uses " : " IPUs share ") + std::to_string(profile.processors) +
         ". Fewer IPUs, or larger micro-batches (options.batch_size), wait less.";
}

std::string on_host_store(const Profile&, const std::string& share) {
  return "IPUs waited for the host store " + share +
         " of the time. What is kept there costs this much; options.training.offload says "
         "what that is.";
}

std::string on_outputs(const Profile&, const std::string& share) {
  return "Stages waited " + share +
         " of the time until outputs had been collected. A call that returns less "
         "(options.output.mode) waits less.";
}

std::string on_gate(const Profile& profile, const std::string& share) {
  return "IPUs waited " + share +
         " of the time for the weight updates of others to begin or end. " +
         (profile.replicas > 1 ? "Every update waits for the slowest replica. " : "") +
         "Larger windows (options.training.gradient_accumulation) have fewer updates.";
}

struct WaitAdvice {
  WaitReason reason;
  const char* topic;
  std::string (*text)(const Profile& profile, const std::string& share);
};
constexpr WaitAdvice rows[] = {{WaitReason::dispatch, "processors", on_processors},
                               {WaitReason::host_store, "offload", on_host_store},
                               {WaitReason::outputs, "outputs", on_outputs},
                               {WaitReason::gate, "updates", on_gate}};

void mind_the_host(const Profile& profile, std::vector<ProfileAdvice>& found) {
  const double outside = profile.elapsed_seconds - profile.call_seconds;
  const double share = profile.elapsed_seconds > 0 ? outside / profile.elapsed_seconds : 0;
  if (share < least_share) return;
  found.push_back(
      {"host",
       "The program spent " + percent_text(share) +
           " of the time outside the calls of this model. If it loads data there, more workers of "
           "the DataLoader help; if it calls other models there, their time is in this share; "
           "otherwise longer calls (options.device_iterations) help.",
       1 / (1 - share)});
}

}  // namespace

std::vector<ProfileAdvice> advice_on_waits(const Profile& profile) {
  std::vector<ProfileAdvice> found;
  for (const WaitAdvice& row : rows) {
    const double share = share_of(profile, row.reason);
    if (share > least_share) found.push_back({row.topic, row.text(profile, percent_text(share))});
  }
  mind_the_host(profile, found);
  return found;
}

std::vector<ProfileAdvice> advice_on_memory(const Profile& profile) {
  std::vector<ProfileAdvice> found;
  for (const IpuProfile& ipu : profile.ipus) {
    const IpuMemory& memory = ipu.memory;
    const double used = static_cast<double>(memory.peak_bytes);
    const auto budget = static_cast<double>(memory.budget_bytes);
    if (memory.budget_bytes == 0 || used < full_share * budget) continue;
    const bool stash = memory.of(MemoryClass::stash) * 2 > memory.peak_bytes;
    found.push_back(
        {"memory", "IPU " + std::to_string(ipu.ipu) + " uses " + percent_text(used / budget) +
                       " of its memory. " +
                       (stash ? "Most of that is the stash, which options.training.recompute makes "
                                "smaller."
                              : "options.training.offload keeps weights, and what the optimizer "
                                "needs, in the host store.")});
  }
  return found;
}

}  // namespace penstock
