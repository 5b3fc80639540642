#include "apps/trainer/options/options.hpp"

#include <algorithm>

#include "apps/trainer/options/refuse.hpp"
#include "apps/trainer/options/rule_options.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

/// Checks the option `option` of the learning rate, which only `schedules` have. If `needed` is
/// true, these schedules are refused without the option.
void check_schedule_option(const LearningRateOptions& options, const char* option, bool is_given,
                           std::vector<ScheduleName> schedules, bool needed) {
  const bool known = std::ranges::count(schedules, options.schedule) > 0;
  if (is_given && !known)
    refuse("--" + std::string(option) + ": the --lr-schedule " +
           std::string(to_string(options.schedule)) + " has none");
  if (!is_given && known && needed)
    refuse("--lr-schedule " + std::string(to_string(options.schedule)) + ": needs --" + option);
}

void validate(const LearningRateOptions& options) {
  using enum ScheduleName;
  check_schedule_option(options, "lr-step", options.step.has_value(), {step}, true);
  check_schedule_option(options, "lr-decay", options.decay.has_value(), {step, exponential},
                        options.schedule == exponential);
  check_schedule_option(options, "lr-updates", options.updates.has_value(), {cosine}, false);
  check_schedule_option(options, "lr-last", options.last.has_value(), {cosine}, false);
}

void validate(const DataOptions& options) {
  if (options.dataset == DatasetName::mnist && !options.data_dir)
    refuse("--dataset mnist: needs --data-dir, the directory of its four IDX files");
  if (options.dataset == DatasetName::cifar10 && !options.data_dir)
    refuse("--dataset cifar10: needs --data-dir, the directory of its binary batches");
  if (options.dataset == DatasetName::synthetic && options.data_dir)
    refuse("--data-dir: synthetic images are generated, not read");
}

void validate(const PipelineOptions& options) {
  if (options.stages && options.stages->stages.empty() && !options.stages->automatic &&
      !options.ipus)
    refuse(
        "--stages auto: needs --ipus, for as many stages as there are IPUs, or a number, as in "
        "auto:4");
  if (options.stages && options.stages->stages.empty() && penstock::is_phased(options.strategy))
    refuse("--stages auto: the phases of --strategy " +
           std::string(penstock::to_string(options.strategy)) +
           " are explicit: name their stages (--phases or --stages), or leave it out for one per "
           "block");
  if (options.offload_minimum && !is_phased(options.strategy) && !options.offload_optimizer &&
      !options.offload_accumulators && !options.offload_activations && !options.offload_weights)
    refuse(
        "--offload-minimum: needs --offload-optimizer, --offload-accumulators, "
        "--offload-activations, --offload-weights or a phased --strategy");
  if (options.shard_minimum && !options.shard_optimizer)
    refuse("--shard-minimum: needs --shard-optimizer");
}

}  // namespace

void TrainerOptions::validate() const {
  validate_rule(optimizer);
  trainer::validate(learning_rate);
  trainer::validate(data);
  trainer::validate(pipeline);
}

std::string_view to_string(DatasetName name) noexcept {
  switch (name) {
    case DatasetName::fashion_mnist:
      return "fashion-mnist";
    case DatasetName::mnist:
      return "mnist";
    case DatasetName::cifar10:
      return "cifar10";
    case DatasetName::synthetic:
      return "synthetic";
  }
  return "";
}

std::string_view to_string(ScheduleName name) noexcept {
  switch (name) {
    case ScheduleName::constant:
      return "constant";
    case ScheduleName::step:
      return "step";
    case ScheduleName::exponential:
      return "exponential";
    case ScheduleName::cosine:
      return "cosine";
  }
  return "";
}

}  // namespace trainer
