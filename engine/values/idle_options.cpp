#include "engine/values/idle_options.hpp"

namespace penstock {
namespace {

/// Of a mode that selects by no period.
void note_period(const std::string& field, OutputMode mode, int period,
                 std::vector<std::string>& notes) {
  if (mode == OutputMode::every_n || period == 1) return;
  notes.push_back(field + ".period changes nothing: " + field + ".mode is " +
                  std::string(to_string(mode)) + ", not every_n");
}

}  // namespace

std::vector<std::string> idle_options(const Options& options) {
  std::vector<std::string> notes;
  const Topology& topology = options.topology;
  if (topology.strategy != Strategy::pipelined && topology.schedule != Topology{}.schedule)
    notes.push_back("options.topology.schedule changes nothing with options.topology.strategy " +
                    std::string(to_string(topology.strategy)));
  note_period("options.output", options.output.mode, options.output.period, notes);
  for (const Anchor& anchor : options.output.anchors)
    note_period("options.output.anchors[\"" + anchor.name + "\"]", anchor.mode, anchor.period,
                notes);
  return notes;
}

}  // namespace penstock
