// The compiler gives advice: notes about a plan, and remedies where no plan fits. Both name options
// by enumerators of Option. Whoever offers the options to users knows how these are spelled, and
// makes texts of the advice by worded(). The functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::graph {

/// Names an option that a note or a remedy is about. How users spell the option is up to whoever
/// offers it to them (OptionNames).
enum class Option : std::uint8_t {
  batch,
  threads,
  threads_per_ipu,
  ipu_memory,
  schedule,
  batch_serial,
  optimizer_state_on_ipu,
  accumulators_on_ipu,
  activations_on_ipu,
  weights_on_ipu,
  recompute,
  recompute_stages,
  offload_optimizer_state,
  offload_accumulators,
  offload_activations,
  offload_weights,
  least_offloaded_optimizer_state,
  least_offloaded_accumulators,
  least_offloaded_activations,
  least_offloaded_weights,
  shard_optimizer_state,
  least_sharded_optimizer_state,
};
inline constexpr int options = 22;

/// Returns how an option is spelled, or an empty text if it has no name.
using OptionNames = std::string_view (*)(Option);

/// Is a remark on a plan that was made as asked, such as that an option has no effect on it.
struct Note {
  std::optional<Option> about = {};  ///< Is the option that the text is about, or none.
  std::string text = {};             ///< Is the remark, such as "nothing is divided".

  bool operator==(const Note&) const = default;
};

/// Returns a text such as "options.training.offload.weights: nothing is kept in the host store".
std::string worded(const Note& note, OptionNames names);

/// Is a change after which a plan fits.
struct Remedy {
  std::string text = {};  ///< Names the change, such as "the weights in the host store".
  /// Has the options that are turned on, or set to the value that the text names.
  std::vector<Option> turned_on = {};
  std::vector<Option> turned_off = {};
  std::string consequence = {};  ///< Is a text such as "which needs 60.0 kB"; it may be empty.
};

/// Says why no plan fits, and what would help.
struct MemoryAdvice {
  std::string lack = {};  ///< Is a text such as "stage 0 on IPU 0 needs 5 kB, an IPU has 4 kB".
  std::vector<Remedy> remedies = {};
  std::string last_remedy = {};  ///< Is a change that always helps but is no option.
};

/// Returns the text of a refusal, in which each remedy is followed by the names of its options.
std::string worded(const MemoryAdvice& advice, OptionNames names);

}  // namespace penstock::graph
