#include "apps/trainer/options/own_words.hpp"

#include <string_view>

namespace trainer {
namespace {

struct Names {
  std::string_view field, option;
};

/// A name that is a part of another comes after it.
constexpr Names names[] = {
    {"options.topology.ipus", "--ipus"},
    {"options.topology.ipu_memory_bytes", "--ipu-memory"},
    {"options.topology.replication_factor", "--replication-factor"},
    {"options.topology.threads_per_ipu", "--threads-per-ipu"},
    {"options.runtime.threads", "--threads"},
    {"options.batch_size", "--batch-size"},
    {"options.training.offload.optimizer_state.minimum_bytes",
     "--offload-optimizer, --offload-minimum"},
    {"options.training.offload.accumulators.minimum_bytes",
     "--offload-accumulators, --offload-minimum"},
    {"options.training.offload.activations.minimum_bytes",
     "--offload-activations, --offload-minimum"},
    {"options.training.offload.weights.minimum_bytes", "--offload-weights, --offload-minimum"},
    {"options.training.offload.optimizer_state.on is true", "--offload-optimizer is given"},
    {"options.training.offload.accumulators.on is true", "--offload-accumulators is given"},
    {"options.training.offload.activations.on is true", "--offload-activations is given"},
    {"options.training.offload.weights.on is true", "--offload-weights is given"},
    {"options.training.offload.optimizer_state", "--offload-optimizer"},
    {"options.training.offload.accumulators", "--offload-accumulators"},
    {"options.training.offload.activations", "--offload-activations"},
    {"options.training.offload.weights", "--offload-weights"},
    {"options.training.sharding.optimizer_state.minimum_elements", "--shard-minimum"},
    {"options.training.sharding.optimizer_state", "--shard-optimizer"},
    {"options.training.gradient_accumulation", "--gradient-accumulation"},
    {"options.topology.phased.phases", "--phases"},
    {"options.topology.phased.liveness", "--phase-liveness"},
    {"options.topology.phased.separate_backward_phase", "--separate-backward-phase"},
    {"options.topology.phased.batch_serial", "--batch-serial"},
    {"options.topology.phased.on_ipu.weights", "--weights-on-ipu"},
    {"options.topology.phased.on_ipu.activations", "--activations-on-ipu"},
    {"options.topology.phased.on_ipu.accumulators", "--accumulators-on-ipu"},
    {"options.topology.phased.on_ipu.optimizer_state", "--optimizer-on-ipu"},
    {"options.topology.schedule", "--schedule"},
    {"options.topology.stages", "--stages"},
    {"options.topology.strategy", "--strategy"},
    {"options.topology.automatic_stages", "--stages auto"},
    {"options.training.recompute_stages", "--recompute"},
    {"options.training.recompute", "--recompute"},
    {"options.training.reduction_strategy", "--reduction-strategy"},
    {"options.runtime.cache_directory", "--cache-dir"},
    {"options.runtime.cache_bytes", "--cache-size"},
    {"optimizer.loss_scaling", "--loss-scaling"},
    {"threads_per_ipu", "--threads-per-ipu"}};

}  // namespace

std::string in_own_words(std::string text) {
  for (const auto& [field, option] : names)
    for (auto at = text.find(field); at != text.npos; at = text.find(field, at + option.size()))
      text.replace(at, field.size(), option);
  return text;
}

// The networks' blocks ask for no IPU, and without --ipus every phase gets its own as it should.
std::string in_words_of(const PipelineOptions& options, const std::string& refused_stages) {
  const std::string words = in_own_words(refused_stages);
  if (words != refused_stages) return words;
  const bool of_places =
      penstock::is_phased(options.strategy) && options.ipus && words.find(" on IPU") != words.npos;
  return (of_places ? "--ipus: " : options.phases ? "--phases: " : "--stages: ") + words;
}

}  // namespace trainer
