#include "apps/trainer/options/idle_options.hpp"

#include <algorithm>

namespace trainer {
namespace {

/// Returns whether the constant called `name` is given and not 0.
bool has(const OptimizerOptions& options, const char* name) {
  const auto constant = options.constants.find(name);
  return constant != options.constants.end() && constant->second != 0;
}

bool keeps_no_state(const OptimizerOptions& options) {
  return options.rule == "sgd" && !has(options, "momentum");
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
  note(has(optimizer, "dampening") && keeps_no_state(optimizer) &&
           !has(optimizer, "dampen_first_step"),
       "--dampening changes nothing without --momentum");
  note(options.continuation.top_k && options.continuation.temperature == 0,
       "--top-k changes nothing with --temperature 0, which takes the likeliest token");
  note(optimizer.init_state && !options.network.init_weights,
       "--init-optimizer-state without --init-weights: random weights go on from the state of "
       "others");
  return notes;
}

std::string moved_cosine(const LearningRateOptions& options, std::int64_t seen, std::int64_t last) {
  if (options.schedule != ScheduleName::cosine || options.updates || seen == 0) return "";
  const std::int64_t warm_up = options.warm_up.value_or(0);
  return "--lr-schedule cosine: its end has moved to that of this run, weight update " +
         std::to_string(last) + ", of which the state has seen " + std::to_string(seen) +
         ", so the learning rate does not go on as the run before had planned it; --lr-updates N "
         "keeps that run's course, where N is " +
         std::to_string(std::max<std::int64_t>(1, seen - warm_up)) +
         " if it came to its end without --lr-updates";
}

}  // namespace trainer
