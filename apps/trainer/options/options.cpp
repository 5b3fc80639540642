#include "apps/trainer/options/options.hpp"

#include <algorithm>

#include "penstock/error.hpp"

namespace trainer {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw penstock::Error(penstock::Errc::invalid_argument, what);
}

/// A constant that only some rules have.
struct RuleConstant {
  std::string option;
  bool given;
  std::vector<OptimizerName> rules;
};

std::vector<RuleConstant> rule_constants(const OptimizerOptions& options) {
  using enum OptimizerName;
  return {{"momentum", options.momentum.has_value(), {sgd, rmsprop}},
          {"dampening", options.dampening.has_value(), {sgd}},
          {"nesterov", options.nesterov, {sgd}},
          {"beta1", options.beta1.has_value(), {adamw, adam, lamb}},
          {"beta2", options.beta2.has_value(), {adamw, adam, lamb}},
          {"eps", options.eps.has_value(), {adamw, adam, rmsprop, lamb}},
          {"alpha", options.alpha.has_value(), {rmsprop}},
          {"dampen-first-step", options.dampen_first_step, {sgd}},
          {"keras-variant", options.keras_variant, {sgd}},
          {"centered", options.centered, {rmsprop}},
          {"tf-variant", options.tf_variant, {rmsprop}},
          {"no-bias-correction", options.no_bias_correction, {adamw, adam, lamb}},
          {"max-weight-norm", options.max_weight_norm.has_value(), {lamb}}};
}

/// "sgd", "sgd and rmsprop", "adamw, adam and lamb".
std::string enumeration(const std::vector<OptimizerName>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += to_string(names[i]);
  }
  return text;
}

void validate(const OptimizerOptions& options) {
  for (const RuleConstant& constant : rule_constants(options)) {
    const auto& rules = constant.rules;
    if (!constant.given || std::count(rules.begin(), rules.end(), options.name)) continue;
    refuse("--" + constant.option + ": " + std::string(to_string(options.name)) + " has no " +
           constant.option + "; it belongs to " + enumeration(rules));
  }
  if (options.nesterov && (options.momentum.value_or(0) == 0 || options.dampening.value_or(0) != 0))
    refuse("--nesterov: needs a --momentum above 0 and no --dampening");
  if (options.keras_variant && options.dampening.value_or(0) != 0)
    refuse("--keras-variant: knows no --dampening");
}

/// An option that only some schedules have, or that one of them needs.
void check_schedule_option(const LearningRateOptions& options, const char* option, bool given,
                           std::vector<ScheduleName> schedules, bool needed) {
  const bool known = std::ranges::count(schedules, options.schedule) > 0;
  if (given && !known)
    refuse("--" + std::string(option) + ": the --lr-schedule " +
           std::string(to_string(options.schedule)) + " has none");
  if (!given && known && needed)
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
  trainer::validate(optimizer);
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

std::string_view to_string(OptimizerName name) noexcept {
  switch (name) {
    case OptimizerName::adamw:
      return "adamw";
    case OptimizerName::adam:
      return "adam";
    case OptimizerName::sgd:
      return "sgd";
    case OptimizerName::rmsprop:
      return "rmsprop";
    case OptimizerName::lamb:
      return "lamb";
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
