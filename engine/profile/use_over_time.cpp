#include "engine/profile/use_over_time.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/profile/call_times.hpp"

namespace penstock {
namespace {

/// A Change is the begin or the end of a program.
struct Change {
  std::int64_t time_ns = 0;
  const TraceEvent* event = nullptr;
  bool begins = false;
};

std::vector<Change> changes_of(std::span<const TraceEvent> events) {
  std::vector<Change> changes;
  for (const TraceEvent& event : events) {
    if (!is_program(event)) continue;
    changes.push_back({event.begin_ns, &event, true});
    changes.push_back({event.end_ns, &event, false});
  }
  std::ranges::stable_sort(changes, {}, &Change::time_ns);
  return changes;
}

class Uses {
 public:
  explicit Uses(const Profile& profile) : profile_(profile) {
    for (const IpuProfile& ipu : profile.ipus)
      uses_[ipu.ipu] = {.ipu = ipu.ipu,
                        .resident_bytes = ipu.memory.of(MemoryClass::weights) +
                                          ipu.memory.of(MemoryClass::optimizer_state) +
                                          ipu.memory.of(MemoryClass::accumulators)};
  }

  /// Applies a change, and returns what its IPU holds from then on.
  const IpuUse& apply(const Change& change) {
    const TraceEvent& event = *change.event;
    const Activity last = profile_.training ? Activity::backward : Activity::forward;
    const bool enters = change.begins && event.activity == Activity::forward;
    const bool leaves = !change.begins && event.activity == last;
    std::int64_t& of_stage = in_flight_[{event.ipu, event.stage}];
    // What had entered before the first event leaves uncounted.
    const std::int64_t grows_by = enters ? 1 : leaves && of_stage > 0 ? -1 : 0;
    IpuUse& use = uses_[event.ipu];
    of_stage += grows_by;
    use.in_flight += grows_by;
    use.stash_bytes += grows_by * stage(event).stash_bytes;
    use.working_bytes = change.begins ? working_bytes(event.ipu) : 0;
    use.time_ns = change.time_ns;
    return use;
  }

 private:
  const StageProfile& stage(const TraceEvent& event) const {
    return profile_.stages[static_cast<std::size_t>(event.stage)];
  }
  std::int64_t working_bytes(int ipu) const {
    const auto found = std::ranges::find(profile_.ipus, ipu, &IpuProfile::ipu);
    return found == profile_.ipus.end() ? 0 : found->memory.of(MemoryClass::working);
  }

  const Profile& profile_;
  std::map<int, IpuUse> uses_;  // The keys are the numbers of the IPUs.
  // Each stage holds this many micro-batches. The keys are the numbers of an IPU and of its stage.
  std::map<std::pair<int, int>, std::int64_t> in_flight_;
};

}  // namespace

std::vector<IpuUse> use_over_time(const Profile& profile, std::span<const TraceEvent> events) {
  Uses uses(profile);
  std::vector<IpuUse> list;
  for (const Change& change : changes_of(events)) list.push_back(uses.apply(change));
  return list;
}

}  // namespace penstock
