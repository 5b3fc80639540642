#include <string>

#include "graph/values/hosts_thread.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/profile.hpp"

namespace penstock {
namespace {

std::string utilization_line(const Profile& profile) {
  double busy = 0, total = 0;
  for (const IpuProfile& ipu : profile.ipus) {
    busy += ipu.seconds.busy();
    total += ipu.seconds.total();
  }
  std::string line =
      "IPUs were busy " + percent_text(total > 0 ? busy / total : 0, 1) + " of the time in calls (";
  for (const IpuProfile& ipu : profile.ipus) {
    const double of_ipu = ipu.seconds.total();
    line += (&ipu == profile.ipus.data() ? "IPU " : ", IPU ") + std::to_string(ipu.ipu) + ": " +
            percent_text(of_ipu > 0 ? ipu.seconds.busy() / of_ipu : 0, 1);
  }
  return line + ").\n";
}

std::string bubble_line(const Profile& profile) {
  return "While the pipeline worked, IPUs were idle " + percent_text(profile.bubble.measured, 1) +
         " of the time; the simulator predicts " + percent_text(profile.bubble.predicted, 1) +
         " on " + std::to_string(profile.processors) +
         (profile.processors == 1 ? " processor" : " processors") +
         ", and equal stages with a processor each would be idle " +
         percent_text(profile.bubble.closed_form, 1) + ".\n";
}

}  // namespace

std::string_view to_string(MemoryClass memory_class) noexcept {
  switch (memory_class) {
    case MemoryClass::weights:
      return "weights";
    case MemoryClass::optimizer_state:
      return "optimizer_state";
    case MemoryClass::accumulators:
      return "accumulators";
    case MemoryClass::stash:
      return "stash";
    case MemoryClass::working:
      return "working";
  }
  return "unknown";
}

std::string summary_of(const Profile& profile) {
  return on_hosts_thread("summary_of a Profile", [&] {
    if (profile.calls == 0) return std::string("No call was profiled.\n");
    std::string text = utilization_line(profile) + bubble_line(profile);
    for (const ProfileAdvice& advice : profile.advice) text += advice.text + "\n";
    return text;
  });
}

}  // namespace penstock
