#include "engine/idle_options.hpp"
#include "graph/values/text.hpp"

namespace penstock {
namespace {

/// Adds a note if `period` is set although `mode` selects by no period, or if it is so long that
/// nothing is selected.
void note_period(const std::string& field, OutputMode mode, int period, std::int64_t micro_batches,
                 std::vector<std::string>& notes) {
  if (mode == OutputMode::every_n) {
    if (period > micro_batches)
      notes.push_back(field + ".mode every_n returns nothing: a call has " +
                      std::to_string(micro_batches) + " micro-batches per replica, fewer than " +
                      field + ".period, " + std::to_string(period));
    return;
  }
  if (period == 1) return;
  notes.push_back(field + ".period changes nothing: " + field + ".mode is " +
                  std::string(to_string(mode)) + ", not every_n");
}

}  // namespace

std::vector<std::string> idle_options(const Options& options, std::int64_t micro_batches) {
  std::vector<std::string> notes;
  const Topology& topology = options.topology;
  if (topology.strategy != Strategy::pipelined && topology.schedule != Topology{}.schedule)
    notes.push_back("options.topology.schedule changes nothing with options.topology.strategy " +
                    std::string(to_string(topology.strategy)));
  note_period("options.output", options.output.mode, options.output.period, micro_batches, notes);
  for (const Anchor& anchor : options.output.anchors)
    note_period("options.output.anchors[" + quoted_text(anchor.name) + "]", anchor.mode,
                anchor.period, micro_batches, notes);
  return notes;
}

}  // namespace penstock
