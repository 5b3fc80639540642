#include "apps/trainer/options/idle_options.hpp"

namespace trainer {
namespace {

bool keeps_no_state(const OptimizerOptions& options) {
  return options.name == OptimizerName::sgd && options.momentum.value_or(0) == 0;
}

}  // namespace

std::vector<std::string> idle_options(const TrainerOptions& options) {
  const OptimizerOptions& optimizer = options.optimizer;
  const OutputOptions& output = options.output;
  const PipelineOptions& pipeline = options.pipeline;
  std::vector<std::string> notes;
  const auto note = [&](bool idle, const std::string& text) {
    if (idle) notes.emplace_back(text);
  };
  note(!output.profile && output.profile_dir != OutputOptions{}.profile_dir,
       "--profile-dir changes nothing without --profile");
  note(pipeline.optimizer_on_ipu && keeps_no_state(optimizer),
       "--optimizer-on-ipu changes nothing: sgd without --momentum keeps no state");
  note(is_phased(pipeline.strategy) &&
           (pipeline.offload_optimizer || pipeline.offload_accumulators ||
            pipeline.offload_activations || pipeline.offload_weights),
       "--offload-... changes nothing with --strategy " +
           std::string(to_string(pipeline.strategy)) +
           ", which keeps in the host store all that no option such as --weights-on-ipu keeps on "
           "the IPUs");
  note(optimizer.dampening.value_or(0) != 0 && keeps_no_state(optimizer) &&
           !optimizer.dampen_first_step,
       "--dampening changes nothing without --momentum");
  note(optimizer.init_state && !options.network.init_weights,
       "--init-optimizer-state without --init-weights: random weights go on from the state of "
       "others");
  return notes;
}

}  // namespace trainer
