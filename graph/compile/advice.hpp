// The compiler gives advice: notes about a plan, and remedies where no plan fits. Both name options
// by enumerators of Option. A program that offers the options to users knows how they are spelled,
// and turns advice into texts by worded(). The functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::graph {

/// An Option is an option that a note or a remedy is about. OptionNames says how users spell it,
/// which depends on the program that offers the option to them.
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

/// A Note is a remark on a plan that was made as the host asked, such as that an option has no
/// effect on the plan.
struct Note {
  /// This is the option that the text is about, if there is one.
  std::optional<Option> about = {};
  std::string text = {};  ///< This is the remark, such as "nothing is divided".

  bool operator==(const Note&) const = default;
};

/// Returns a text such as "options.training.offload.weights: nothing is kept in the host store".
std::string worded(const Note& note, OptionNames names);

/// A Remedy is a change of options after which a plan fits into the memory of the IPUs.
struct Remedy {
  std::string text = {};  ///< This names the change, such as "the weights in the host store".
  /// These options are turned on, or set to the value that the text names.
  std::vector<Option> turned_on = {};
  std::vector<Option> turned_off = {};
  std::string consequence = {};  ///< This is a text such as "which needs 60.0 kB", or empty.
};

/// A MemoryAdvice says why no plan fits into the memory of the IPUs, and what would help.
struct MemoryAdvice {
  /// This is a text such as "stage 0 on IPU 0 needs 5 kB, an IPU has 4 kB".
  std::string lack = {};
  std::vector<Remedy> remedies = {};
  std::string last_remedy = {};  ///< This is a change that always helps but is no option.
};

/// Returns the text of the error that refuses the model. Each remedy in it is followed by the names
/// of its options.
std::string worded(const MemoryAdvice& advice, OptionNames names);

}  // namespace penstock::graph
