#include "apps/trainer/options/options.hpp"

#include <algorithm>
#include <utility>

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

/// Returns the option that chooses the network, with its value unless that is a file.
std::string chosen_network(const NetworkOptions& options) {
  return options.onnx ? "--onnx" : "--model " + options.model;
}

void validate(const NetworkOptions& options, const DataOptions& data) {
  const bool is_language_model = options.model == language_model;
  if (options.onnx && options.model != NetworkOptions{}.model)
    refuse("--onnx: the file's network takes the place of --model " + options.model +
           "; leave one out");
  if (options.onnx_constants && !options.onnx) refuse("--onnx-constants: needs --onnx");
  const std::pair<const char*, bool> sizes[] = {{"--layers", options.layers.has_value()},
                                                {"--heads", options.heads.has_value()},
                                                {"--width", options.width.has_value()},
                                                {"--context", options.context.has_value()},
                                                {"--dropout", options.dropout.has_value()}};
  for (const auto& [option, is_given] : sizes)
    if (is_given && !is_language_model)
      refuse(std::string(option) + ": " + chosen_network(options) + " has no such size; gpt has");
  if (is_language_model && !is_text(data.dataset))
    refuse("--dataset " + std::string(to_string(data.dataset)) +
           ": --model gpt is trained on --dataset text");
  if (!is_language_model && is_text(data.dataset))
    refuse("--dataset text: " + chosen_network(options) + " is trained on images" +
           (options.onnx ? "" : "; add --model gpt"));
  const penstock::networks::GptOptions gpt = gpt_options(options);
  if (gpt.width % gpt.heads != 0)
    refuse((options.width ? "--width" : "--heads") +
           std::string(": expected a width that is a multiple of the heads, got --width ") +
           std::to_string(gpt.width) + " and --heads " + std::to_string(gpt.heads));
}

void validate(const ContinuationOptions& options, const NetworkOptions& network) {
  if (options.sample && network.model != language_model)
    refuse("--sample: " + chosen_network(network) + " makes no text; gpt does");
  if (options.sample) return;
  const ContinuationOptions defaults;
  if (options.prompt) refuse("--prompt: needs --sample");
  if (options.temperature != defaults.temperature) refuse("--temperature: needs --sample");
  if (options.top_k) refuse("--top-k: needs --sample");
}

void validate(const DataOptions& options) {
  if (options.dataset == DatasetName::mnist && !options.data_dir)
    refuse("--dataset mnist: needs --data-dir, the directory of its four IDX files");
  if (options.dataset == DatasetName::cifar10 && !options.data_dir)
    refuse("--dataset cifar10: needs --data-dir, the directory of its binary batches");
  if (options.dataset == DatasetName::folder && !options.data_dir)
    refuse("--dataset folder: needs --data-dir, the directory of the folders train and test");
  if (options.random_crops && options.dataset != DatasetName::folder)
    refuse("--random-crops: needs --dataset folder");
  if (options.image_size && options.dataset != DatasetName::folder)
    refuse("--image-size: needs --dataset folder");
  if (options.broken_images != DataOptions{}.broken_images &&
      options.dataset != DatasetName::folder)
    refuse("--broken-images: needs --dataset folder");
  if (is_text(options.dataset) && !options.data_dir)
    refuse("--dataset text: needs --data-dir, the file that has the text");
  if (options.tokens != DataOptions{}.tokens && !is_text(options.dataset))
    refuse("--tokens: --dataset " + std::string(to_string(options.dataset)) + " has none");
  if (options.dataset == DatasetName::synthetic && options.data_dir)
    refuse("--data-dir: synthetic images are generated, not read");
}

void validate(const DownloadOptions& options, const DataOptions& data) {
  if (!options.dataset && options.url) refuse("--download-url: needs --download");
  if (!options.dataset && options.authorities) refuse("--download-ca: needs --download");
  if (options.dataset && !data.data_dir)
    refuse("--download: needs --data-dir, the directory where the files go");
  if (!options.url) return;
  if (!options.url->starts_with("https://") && !options.url->starts_with("http://"))
    refuse("--download-url: expected an address that begins with https:// or http://, got \"" +
           *options.url + '"');
  if (!options.url->ends_with('/'))
    refuse("--download-url: expected an address that ends with a slash, got \"" + *options.url +
           '"');
}

void validate(const PipelineOptions& options) {
  if (options.begin_block && options.stages && options.stages->stages.empty())
    refuse("--begin-block: --stages auto cuts the network without regard to blocks; leave one out");
  if (options.split_after && (options.begin_block || options.stages || options.phases))
    refuse("--split-after: " +
           std::string(options.begin_block ? "--begin-block"
                       : options.stages    ? "--stages"
                                           : "--phases") +
           " says by itself where stages begin; leave one out");
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

void validate(const CheckpointOptions& options) {
  if (options.dir) return;
  const CheckpointOptions defaults;
  if (options.resume) refuse("--resume: needs --checkpoint-dir");
  if (options.every != defaults.every) refuse("--checkpoint-every: needs --checkpoint-dir");
  if (options.keep != defaults.keep) refuse("--keep: needs --checkpoint-dir");
}

}  // namespace

void TrainerOptions::validate() const {
  validate_rule(optimizer);
  trainer::validate(learning_rate);
  trainer::validate(network, data);
  trainer::validate(continuation, network);
  trainer::validate(download, data);
  trainer::validate(data);
  trainer::validate(pipeline);
  trainer::validate(checkpoints);
}

penstock::networks::GptOptions gpt_options(const NetworkOptions& options) {
  penstock::networks::GptOptions sizes;
  sizes.layers = options.layers.value_or(sizes.layers);
  sizes.heads = options.heads.value_or(sizes.heads);
  sizes.width = options.width.value_or(static_cast<int>(sizes.width));
  sizes.context = options.context.value_or(static_cast<int>(sizes.context));
  sizes.dropout = options.dropout.value_or(sizes.dropout);
  return sizes;
}

TrainerOptions defaults_of(const std::string& model) {
  TrainerOptions options;
  if (model != language_model) return options;
  options.data.dataset = DatasetName::text;
  options.training = {.batch_size = 12,
                      .device_iterations = 10,
                      .gradient_accumulation = 1,
                      .epochs = 1000,
                      .max_updates = 2000,
                      .test_batch_size = 12};
  options.optimizer.constants = {{"beta2", 0.99}, {"weight_decay", 0.1}};
  options.optimizer.max_grad_norm = 1;
  options.learning_rate = {.schedule = ScheduleName::cosine, .warm_up = 100, .last = 0.1};
  // With one micro-batch per update there is nothing to do for a second stage meanwhile.
  options.pipeline.stages = StagesOption{.automatic = 1};
  return options;
}

TrainerOptions fitting_defaults(TrainerOptions defaults, const TrainerOptions& chosen) {
  if (chosen.optimizer.rule != defaults.optimizer.rule) defaults.optimizer.constants.clear();
  if (chosen.learning_rate.schedule != defaults.learning_rate.schedule)
    defaults.learning_rate.last.reset();
  const PipelineOptions& pipeline = chosen.pipeline;
  if (pipeline.phases || pipeline.ipus || pipeline.begin_block || pipeline.split_after ||
      penstock::is_phased(pipeline.strategy))
    defaults.pipeline.stages.reset();
  return defaults;
}

std::string_view to_string(BrokenImagesName name) noexcept {
  switch (name) {
    case BrokenImagesName::refuse:
      return "refuse";
    case BrokenImagesName::skip:
      return "skip";
  }
  return "unknown";
}

std::string_view to_string(TokenName name) noexcept {
  switch (name) {
    case TokenName::characters:
      return "characters";
    case TokenName::bytes:
      return "bytes";
  }
  return "unknown";
}

std::string_view to_string(DatasetName name) noexcept {
  switch (name) {
    case DatasetName::fashion_mnist:
      return "fashion-mnist";
    case DatasetName::mnist:
      return "mnist";
    case DatasetName::cifar10:
      return "cifar10";
    case DatasetName::folder:
      return "folder";
    case DatasetName::synthetic:
      return "synthetic";
    case DatasetName::text:
      return "text";
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
