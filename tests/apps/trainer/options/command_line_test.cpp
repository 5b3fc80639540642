#include "apps/trainer/options/command_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "apps/trainer/options/configuration.hpp"
#include "apps/trainer/options/engine_options.hpp"
#include "apps/trainer/options/option_table.hpp"
#include "apps/trainer/options/rule_options.hpp"
#include "penstock/data_loader_json.hpp"
#include "penstock/error.hpp"
#include "penstock/optimizer_json.hpp"
#include "penstock/options_json.hpp"
#include "penstock/version.hpp"
#include "tests/support/temporary_directory.hpp"

namespace trainer {
namespace {

using Arguments = std::vector<const char*>;

Command read_command(Arguments arguments) {
  arguments.insert(arguments.begin(), "penstock-train");
  return read_command_line(static_cast<int>(arguments.size()), arguments.data());
}

/// Returns the options of the run, or nothing if the arguments ask for no run.
std::optional<TrainerOptions> read(const Arguments& arguments) {
  const Command command = read_command(arguments);
  return command.text ? std::nullopt : std::optional(command.options);
}

/// Returns the value that the options give to the optimizer's constant called `name`, if any.
std::optional<double> constant(const TrainerOptions& options, const char* name) {
  const auto constant = options.optimizer.constants.find(name);
  return constant != options.optimizer.constants.end() ? std::optional(constant->second)
                                                       : std::nullopt;
}

/// Returns why the arguments are refused, or an empty text if they are accepted.
std::string refusal(const Arguments& arguments) {
  try {
    read(arguments);
    return {};
  } catch (const penstock::Error& error) {
    EXPECT_EQ(error.code(), penstock::Errc::invalid_argument);
    return error.what();
  }
}

TEST(CommandLine, DefaultsAreTheTutorialsRecipe) {
  const TrainerOptions options = read({}).value();
  EXPECT_EQ(options.network.model, "mnist-cnn");
  EXPECT_EQ(options.data.dataset, DatasetName::fashion_mnist);
  EXPECT_EQ(options.training.batch_size, 40);
  EXPECT_EQ(options.training.device_iterations, 10);
  EXPECT_EQ(options.training.gradient_accumulation, 10);
  EXPECT_EQ(options.training.test_batch_size, 8);
  EXPECT_EQ(options.training.epochs, 3);
  EXPECT_EQ(options.optimizer.rule, "adamw");
  EXPECT_EQ(options.optimizer.learning_rate, 0.001);
  EXPECT_EQ(options.pipeline.strategy, penstock::Strategy::pipelined);
  EXPECT_EQ(options.pipeline.schedule, penstock::PipelineSchedule::grouped);
  EXPECT_EQ(options.pipeline.reduction, penstock::Reduction::mean);
  EXPECT_EQ(options.network.seed, 0U);
  EXPECT_EQ(options.output.profile_dir, "./profile");
  EXPECT_FALSE(options.pipeline.offload_optimizer || options.output.profile ||
               options.output.debug || options.data.no_shuffle);
}

struct Setting {
  const char* name;
  Arguments arguments;
  std::function<bool(const TrainerOptions&)> holds;
};

class CommandLineSetting : public testing::TestWithParam<Setting> {};

// D7 of docs/reference.md: the strategy reaches its field, as every other setting does.
TEST_P(CommandLineSetting, ReachesItsField) {
  EXPECT_FALSE(GetParam().holds(TrainerOptions{})) << "the default would pass too";
  EXPECT_TRUE(GetParam().holds(read(GetParam().arguments).value()));
}

TEST_P(CommandLineSetting, PassesThroughAPrintedConfiguration) {
  const penstock::testing::TemporaryDirectory directory;
  const std::string file = (directory / "run.json").string();
  Arguments arguments = GetParam().arguments;
  arguments.push_back("--print-config");
  const std::string text = read_command(arguments).text.value();
  penstock::testing::write_file(file, text);
  EXPECT_TRUE(GetParam().holds(read({"--config", file.c_str()}).value())) << text;
  EXPECT_EQ(read_command({"--print-config", "--config", file.c_str()}).text, text);
}

using O = const TrainerOptions&;
const std::vector<Setting> settings{
    {"model", {"--model", "mlp"}, [](O o) { return o.network.model == "mlp"; }},
    {"seed", {"--seed=18446744073709551615"}, [](O o) { return o.network.seed == ~0ULL; }},
    {"init_weights",
     {"--init-weights", "w.st"},
     [](O o) { return o.network.init_weights == "w.st"; }},
    {"dataset",
     {"--dataset", "synthetic"},
     [](O o) { return o.data.dataset == DatasetName::synthetic; }},
    {"data_dir", {"--data-dir", "here"}, [](O o) { return o.data.data_dir == "here"; }},
    {"download",
     {"--download", "mnist", "--data-dir", "here"},
     [](O o) { return o.download.dataset == DatasetName::mnist; }},
    {"download_url",
     {"--download", "cifar10", "--data-dir", "here", "--download-url", "https://example.org/"},
     [](O o) { return o.download.url == "https://example.org/"; }},
    {"download_ca",
     {"--download", "mnist", "--data-dir", "here", "--download-ca", "ca.pem"},
     [](O o) { return o.download.authorities == "ca.pem"; }},
    {"image_size",
     {"--dataset", "folder", "--data-dir", "images", "--image-size", "64"},
     [](O o) { return o.data.image_size == 64; }},
    {"broken_images",
     {"--dataset", "folder", "--data-dir", "here", "--broken-images", "skip"},
     [](O o) { return o.data.broken_images == BrokenImagesName::skip; }},
    {"random_crops",
     {"--dataset", "folder", "--data-dir", "here", "--random-crops"},
     [](O o) { return o.data.random_crops && o.data.dataset == DatasetName::folder; }},
    {"no_shuffle", {"--no-shuffle"}, [](O o) { return o.data.no_shuffle; }},
    {"num_workers", {"--num-workers", "0"}, [](O o) { return o.data.num_workers == 0; }},
    {"buffered_batches",
     {"--buffered-batches", "5"},
     [](O o) { return o.data.buffered_batches == 5; }},
    {"batch_size", {"--batch-size", "8"}, [](O o) { return o.training.batch_size == 8; }},
    {"device_iterations",
     {"--device-iterations", "3"},
     [](O o) { return o.training.device_iterations == 3; }},
    {"gradient_accumulation",
     {"--gradient-accumulation", "5"},
     [](O o) { return o.training.gradient_accumulation == 5; }},
    {"test_batch_size",
     {"--test-batch-size", "9"},
     [](O o) { return o.training.test_batch_size == 9; }},
    {"epochs", {"--epochs", "7"}, [](O o) { return o.training.epochs == 7; }},
    {"max_updates", {"--max-updates", "64"}, [](O o) { return o.training.max_updates == 64; }},
    {"optimizer", {"--optimizer", "lamb"}, [](O o) { return o.optimizer.rule == "lamb"; }},
    {"learning_rate",
     {"--learning-rate", "2e-3"},
     [](O o) { return o.optimizer.learning_rate == 2e-3; }},
    {"momentum",
     {"--optimizer", "sgd", "--momentum", "0.5"},
     [](O o) { return constant(o, "momentum") == 0.5; }},
    {"dampening",
     {"--optimizer", "sgd", "--dampening", "1"},
     [](O o) { return constant(o, "dampening") == 1.0; }},
    {"nesterov",
     {"--optimizer", "sgd", "--momentum", "0.9", "--nesterov"},
     [](O o) { return constant(o, "nesterov") == 1; }},
    {"weight_decay",
     {"--weight-decay", "0"},
     [](O o) { return constant(o, "weight_decay") == 0.0; }},
    {"beta1", {"--beta1", "0.8"}, [](O o) { return constant(o, "beta1") == 0.8; }},
    {"beta2", {"--beta2", "0.99"}, [](O o) { return constant(o, "beta2") == 0.99; }},
    {"eps", {"--eps", "1e-6"}, [](O o) { return constant(o, "eps") == 1e-6; }},
    {"alpha",
     {"--optimizer", "rmsprop", "--alpha", "0.9"},
     [](O o) { return constant(o, "alpha") == 0.9; }},
    {"dampen_first_step",
     {"--optimizer", "sgd", "--dampen-first-step"},
     [](O o) { return constant(o, "dampen_first_step") == 1; }},
    {"keras_variant",
     {"--optimizer", "sgd", "--keras-variant"},
     [](O o) { return constant(o, "keras_variant") == 1; }},
    {"centered",
     {"--optimizer", "rmsprop", "--centered"},
     [](O o) { return constant(o, "centered") == 1; }},
    {"tf_variant",
     {"--optimizer", "rmsprop", "--tf-variant"},
     [](O o) { return constant(o, "tf_variant") == 1; }},
    {"no_bias_correction",
     {"--no-bias-correction"},
     [](O o) { return constant(o, "bias_correction") == 0; }},
    {"max_weight_norm",
     {"--optimizer", "lamb", "--max-weight-norm", "3"},
     [](O o) { return constant(o, "max_weight_norm") == 3.0; }},
    {"max_grad_norm",
     {"--max-grad-norm", "1"},
     [](O o) { return o.optimizer.max_grad_norm == 1.0; }},
    {"init_optimizer_state",
     {"--init-optimizer-state", "o.st"},
     [](O o) { return o.optimizer.init_state == "o.st"; }},
    {"save_optimizer_state",
     {"--save-optimizer-state", "o.st"},
     [](O o) { return o.output.save_optimizer_state == "o.st"; }},
    {"lr_schedule",
     {"--lr-schedule", "cosine"},
     [](O o) { return o.learning_rate.schedule == ScheduleName::cosine; }},
    {"lr_warmup", {"--lr-warmup", "7"}, [](O o) { return o.learning_rate.warm_up == 7; }},
    {"lr_step",
     {"--lr-schedule", "step", "--lr-step", "9"},
     [](O o) { return o.learning_rate.step == 9; }},
    {"lr_decay",
     {"--lr-schedule", "exponential", "--lr-decay", "0.9"},
     [](O o) { return o.learning_rate.decay == 0.9; }},
    {"lr_updates",
     {"--lr-schedule", "cosine", "--lr-updates", "100"},
     [](O o) { return o.learning_rate.updates == 100; }},
    {"lr_last",
     {"--lr-schedule", "cosine", "--lr-last", "0.1"},
     [](O o) { return o.learning_rate.last == 0.1; }},
    {"loss_scaling", {"--loss-scaling", "8"}, [](O o) { return o.optimizer.loss_scaling == 8; }},
    {"reduction_strategy",
     {"--reduction-strategy", "running"},
     [](O o) { return o.pipeline.reduction_strategy == penstock::ReductionStrategy::running; }},
    {"strategy",
     {"--strategy", "sharded"},
     [](O o) { return o.pipeline.strategy == penstock::Strategy::sharded; }},
    {"phases",
     {"--phases", "B1,B2|B3;B4"},
     [](O o) {
       return o.pipeline.phases && o.pipeline.phases->size() == 2 &&
              o.pipeline.phases->at(0).stages.at(1).blocks == std::vector<std::string>{"B3"};
     }},
    {"phase_liveness",
     {"--phase-liveness", "off_ipu_after_each_phase"},
     [](O o) {
       return o.pipeline.phase_liveness == penstock::PhaseLiveness::off_ipu_after_each_phase;
     }},
    {"weights_on_ipu", {"--weights-on-ipu"}, [](O o) { return o.pipeline.weights_on_ipu; }},
    {"activations_on_ipu",
     {"--activations-on-ipu"},
     [](O o) { return o.pipeline.activations_on_ipu; }},
    {"accumulators_on_ipu",
     {"--accumulators-on-ipu"},
     [](O o) { return o.pipeline.accumulators_on_ipu; }},
    {"optimizer_on_ipu", {"--optimizer-on-ipu"}, [](O o) { return o.pipeline.optimizer_on_ipu; }},
    {"separate_backward_phase",
     {"--separate-backward-phase"},
     [](O o) { return o.pipeline.separate_backward_phase; }},
    {"batch_serial", {"--batch-serial"}, [](O o) { return o.pipeline.batch_serial; }},
    {"begin_block",
     {"--begin-block", "layer3", "--begin-block", "layer4=1"},
     [](O o) {
       return o.pipeline.begin_block == std::vector<BlockStart>{{"layer3"}, {"layer4", 1}};
     }},
    {"split_after",
     {"--split-after", "layer2", "--split-after", "layer3"},
     [](O o) {
       return o.pipeline.split_after == std::vector<std::string>{"layer2", "layer3"};
     }},
    {"onnx_constants",
     {"--onnx", "n.onnx", "--onnx-constants", "a.*,b"},
     [](O o) {
       return o.network.onnx_constants == std::vector<std::string>{"a.*", "b"};
     }},
    {"onnx", {"--onnx", "n.onnx"}, [](O o) { return o.network.onnx == "n.onnx"; }},
    {"schedule",
     {"--schedule", "interleaved"},
     [](O o) { return o.pipeline.schedule == penstock::PipelineSchedule::interleaved; }},
    {"stages",
     {"--stages", "B1,B2|B3,B4"},
     [](O o) {
       return o.pipeline.stages && o.pipeline.stages->stages.size() == 2 &&
              o.pipeline.stages->stages[1].blocks == std::vector<std::string>{"B3", "B4"};
     }},
    {"ipu_memory",
     {"--ipu-memory", "1.5MiB"},
     [](O o) { return o.pipeline.ipu_memory == 1572864; }},
    {"ipus",
     {"--ipus", "0,1,0,1"},
     [](O o) {
       return o.pipeline.ipus == std::vector<int>{0, 1, 0, 1};
     }},
    {"replication_factor",
     {"--replication-factor", "2"},
     [](O o) { return o.pipeline.replication_factor == 2; }},
    {"reduction",
     {"--reduction", "sum"},
     [](O o) { return o.pipeline.reduction == penstock::Reduction::sum; }},
    {"offload_optimizer",
     {"--offload-optimizer"},
     [](O o) { return o.pipeline.offload_optimizer; }},
    {"offload_accumulators",
     {"--offload-accumulators"},
     [](O o) { return o.pipeline.offload_accumulators; }},
    {"offload_activations",
     {"--offload-activations"},
     [](O o) { return o.pipeline.offload_activations; }},
    {"offload_weights", {"--offload-weights"}, [](O o) { return o.pipeline.offload_weights; }},
    {"offload_minimum",
     {"--offload-optimizer", "--offload-minimum", "4kB"},
     [](O o) { return o.pipeline.offload_minimum == 4000; }},
    {"shard_optimizer", {"--shard-optimizer"}, [](O o) { return o.pipeline.shard_optimizer; }},
    {"shard_minimum",
     {"--shard-optimizer", "--shard-minimum", "1000"},
     [](O o) { return o.pipeline.shard_minimum == 1000; }},
    {"recompute",
     {"--recompute", "0,2"},
     [](O o) {
       return o.pipeline.recompute == std::vector<int>{0, 2};
     }},
    {"threads", {"--threads", "2"}, [](O o) { return o.pipeline.threads == 2; }},
    {"threads_per_ipu",
     {"--threads-per-ipu", "2"},
     [](O o) { return o.pipeline.threads_per_ipu == 2; }},
    {"stall_seconds",
     {"--stall-seconds", "2.5"},
     [](O o) { return o.pipeline.stall_seconds == 2.5; }},
    {"recovery_attempts",
     {"--recovery-attempts", "0"},
     [](O o) { return o.pipeline.recovery_attempts == 0; }},
    {"recovery_wait",
     {"--recovery-wait", "0.5"},
     [](O o) { return o.pipeline.recovery_wait == 0.5; }},
    {"cache_dir", {"--cache-dir", "c"}, [](O o) { return o.pipeline.cache_dir == "c"; }},
    {"cache_size",
     {"--cache-size", "10MB"},
     [](O o) { return o.pipeline.cache_size == 10'000'000; }},
    {"layers",
     {"--model", "gpt", "--data-dir", "t", "--layers", "2"},
     [](O o) { return o.network.layers == 2; }},
    {"heads",
     {"--model", "gpt", "--data-dir", "t", "--heads", "2"},
     [](O o) { return o.network.heads == 2; }},
    {"width",
     {"--model", "gpt", "--data-dir", "t", "--width", "32"},
     [](O o) { return o.network.width == 32; }},
    {"context",
     {"--model", "gpt", "--data-dir", "t", "--context", "16"},
     [](O o) { return o.network.context == 16; }},
    {"dropout",
     {"--model", "gpt", "--data-dir", "t", "--dropout", "0.1"},
     [](O o) { return o.network.dropout == 0.1; }},
    {"tokens",
     {"--model", "gpt", "--data-dir", "t", "--tokens", "bytes"},
     [](O o) { return o.data.tokens == TokenName::bytes; }},
    {"sample",
     {"--model", "gpt", "--data-dir", "t", "--sample", "100"},
     [](O o) { return o.continuation.sample == 100; }},
    {"prompt",
     {"--model", "gpt", "--data-dir", "t", "--sample", "100", "--prompt", "A"},
     [](O o) { return o.continuation.prompt == "A"; }},
    {"temperature",
     {"--model", "gpt", "--data-dir", "t", "--sample", "100", "--temperature", "0"},
     [](O o) { return o.continuation.temperature == 0; }},
    {"top_k",
     {"--model", "gpt", "--data-dir", "t", "--sample", "100", "--top-k", "5"},
     [](O o) { return o.continuation.top_k == 5; }},
    {"checkpoint_dir", {"--checkpoint-dir", "c"}, [](O o) { return o.checkpoints.dir == "c"; }},
    {"checkpoint_every",
     {"--checkpoint-dir", "c", "--checkpoint-every", "7"},
     [](O o) { return o.checkpoints.every == 7; }},
    {"keep", {"--checkpoint-dir", "c", "--keep", "1"}, [](O o) { return o.checkpoints.keep == 1; }},
    {"resume", {"--checkpoint-dir", "c", "--resume"}, [](O o) { return o.checkpoints.resume; }},
    {"save_weights",
     {"--save-weights", "w.st"},
     [](O o) { return o.output.save_weights == "w.st"; }},
    {"save_onnx", {"--save-onnx", "w.onnx"}, [](O o) { return o.output.save_onnx == "w.onnx"; }},
    {"metrics", {"--metrics", "m.jsonl"}, [](O o) { return o.output.metrics == "m.jsonl"; }},
    {"metrics_port", {"--metrics-port", "9090"}, [](O o) { return o.output.metrics_port == 9090; }},
    {"tensorboard", {"--tensorboard", "runs"}, [](O o) { return o.output.tensorboard == "runs"; }},
    {"profile", {"--profile"}, [](O o) { return o.output.profile; }},
    {"profile_dir", {"--profile-dir", "p"}, [](O o) { return o.output.profile_dir == "p"; }},
    {"debug", {"--debug"}, [](O o) { return o.output.debug; }},
    {"no_progress", {"--no-progress"}, [](O o) { return o.output.no_progress; }},
};

INSTANTIATE_TEST_SUITE_P(Table, CommandLineSetting, testing::ValuesIn(settings),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CommandLine, EveryRowOfTheTableIsTested) {
  std::size_t rows = 0;
  for (const OptionGroup& group : option_groups()) rows += group.rows.size();
  EXPECT_EQ(settings.size(), rows);
}

/// Returns, as text, all options that a run with `options` gives to the engine.
std::string told_to_the_engine(const TrainerOptions& options) {
  const std::int64_t test_samples = 1 << 20;
  penstock::Optimizer optimizer = make_optimizer(options.optimizer);
  optimizer.schedule = make_schedule(options.learning_rate, 1000);
  return to_json(training_options(options)) + to_json(inference_options(options, test_samples)) +
         to_json(optimizer) + to_json(training_loader_options(options)) +
         to_json(test_loader_options(options));
}

/// Returns the arguments that `setting` has beside the option that it is named after, or none if
/// these arguments are refused without that option.
Arguments arguments_beside(const Setting& setting) {
  std::string option = std::string("--") + setting.name;
  std::ranges::replace(option, '_', '-');
  Arguments others;
  bool is_value = false;
  for (const char* argument : setting.arguments) {
    const std::string text = argument;
    const bool is_name = text.starts_with("--");
    if (is_name) is_value = false;
    if (text == option) is_value = true;
    if (!is_value && !text.starts_with(option + "=")) others.push_back(argument);
  }
  return refusal(others).empty() ? others : Arguments{};
}

// The options that do not reach the engine say what is trained, on what, for how long, and where
// results go.
TEST(CommandLine, EveryOptionOfAnEngineReachesIt) {
  const std::set<std::string> of_the_run{"model",
                                         "init_weights",
                                         "onnx",
                                         "onnx_constants",
                                         "split_after",
                                         "dataset",
                                         "data_dir",
                                         "random_crops",
                                         "image_size",
                                         "broken_images",
                                         "download",
                                         "download_url",
                                         "download_ca",
                                         "begin_block",
                                         "epochs",
                                         "max_updates",
                                         "init_optimizer_state",
                                         "layers",
                                         "heads",
                                         "width",
                                         "context",
                                         "dropout",
                                         "tokens",
                                         "sample",
                                         "prompt",
                                         "temperature",
                                         "top_k",
                                         "checkpoint_dir",
                                         "checkpoint_every",
                                         "keep",
                                         "resume",
                                         "save_weights",
                                         "save_onnx",
                                         "save_optimizer_state",
                                         "metrics",
                                         "metrics_port",
                                         "tensorboard",
                                         "profile_dir",
                                         "no_progress"};
  for (const Setting& setting : settings) {
    const bool reaches = told_to_the_engine(read(setting.arguments).value()) !=
                         told_to_the_engine(read(arguments_beside(setting)).value());
    EXPECT_EQ(reaches, !of_the_run.contains(setting.name)) << setting.name;
  }
}

/// Returns the values of the engine's options, keyed by the names that its messages use, such as
/// "options.training.recompute".
std::map<std::string, std::string> engine_fields(const TrainerOptions& options) {
  const auto json = nlohmann::json::parse(to_json(training_options(options))).flatten();
  std::map<std::string, std::string> fields;
  for (const auto& [path, value] : json.items()) {
    std::string name = "options" + path;
    std::ranges::replace(name, '/', '.');
    fields[name] = value.dump();
  }
  return fields;
}

/// Returns whether `field` is `name` or a part of it.
bool is_in(const std::string& field, const std::string& name) {
  return (field + '.').starts_with(name + '.');
}

// When an error of the engine names a field, the trainer names the option that sets the field. So
// the table of options has to know, for each option, every field that it sets.
TEST(CommandLine, AnOptionNamesTheFieldsOfTheEngineThatItSets) {
  for (const Setting& setting : settings) {
    std::string option = setting.name;
    std::ranges::replace(option, '_', '-');
    const std::vector<EngineField> named = find_option(option)->engine_fields;
    const auto with = engine_fields(read(setting.arguments).value());
    const auto without = engine_fields(read(arguments_beside(setting)).value());
    for (const auto& [field, value] : with) {
      if (without.contains(field) && without.at(field) == value) continue;
      const auto names_it = [&](const EngineField& name) { return is_in(field, name.name); };
      EXPECT_TRUE(std::ranges::any_of(named, names_it)) << setting.name << " sets " << field;
    }
  }
}

TEST(CommandLine, AnOptionNamesOnlyFieldsThatTheEngineHas) {
  const auto fields = engine_fields({});
  int named = 0;
  for (const OptionGroup& group : option_groups())
    for (const OptionRow& row : group.rows)
      for (const EngineField& name : row.engine_fields) {
        ++named;
        EXPECT_TRUE(name.name == "optimizer.loss_scaling" ||
                    name.name == "OnnxOptions::constants" ||
                    std::ranges::any_of(
                        fields, [&](const auto& field) { return is_in(field.first, name.name); }))
            << row.name << " sets " << name.name;
      }
  EXPECT_GE(named, 38);
}

TEST(CommandLine, ALanguageModelHasTheDefaultsOfNanoGpt) {
  const TrainerOptions options = read({"--model", "gpt", "--data-dir", "t"}).value();
  EXPECT_EQ(options.data.dataset, DatasetName::text);
  EXPECT_EQ(options.training.batch_size, 12);
  EXPECT_EQ(options.training.gradient_accumulation, 1);
  EXPECT_EQ(options.training.max_updates, 2000);
  EXPECT_EQ(options.optimizer.max_grad_norm, 1.0);
  EXPECT_EQ(constant(options, "beta2"), 0.99);
  EXPECT_EQ(constant(options, "weight_decay"), 0.1);
  const penstock::LearningRateSchedule schedule = make_schedule(options.learning_rate, 2000);
  EXPECT_EQ(schedule.at(0), 0);
  EXPECT_DOUBLE_EQ(schedule.at(50), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(100), 1);
  EXPECT_DOUBLE_EQ(schedule.at(1050), 0.55);
  EXPECT_DOUBLE_EQ(schedule.at(2000), 0.1);
  // What is given goes before them, wherever it stands.
  const TrainerOptions given = read({"--batch-size", "8", "--max-updates", "", "--optimizer", "sgd",
                                     "--model", "gpt", "--data-dir", "t"})
                                   .value();
  EXPECT_EQ(given.training.batch_size, 8);
  EXPECT_EQ(given.training.max_updates, std::nullopt);
  EXPECT_TRUE(given.optimizer.constants.empty()) << "sgd has other constants";
}

const Arguments gpt{"--model", "gpt", "--data-dir", "t"};

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// The defaults of gpt count as little as other defaults do.
TEST(CommandLine, ALanguageModelTakesOtherSchedulesStagesAndIpus) {
  for (const Arguments& others :
       {Arguments{"--lr-schedule", "constant"},
        Arguments{"--lr-schedule", "step", "--lr-step", "9"},
        Arguments{"--strategy", "serial_phased"}, Arguments{"--ipus", "0,1"},
        Arguments{"--strategy", "serial_phased", "--phases", "embed,h.0;h.1,head"},
        Arguments{"--optimizer", "rmsprop"}, Arguments{"--stages", "embed|head"},
        Arguments{"--begin-block", "h.1=1"}})
    EXPECT_EQ(refusal(gpt + others), "") << others.back();
}

TEST(CommandLine, ADefaultOfALanguageModelThatIsTakenBackStaysSoInAConfiguration) {
  const penstock::testing::TemporaryDirectory directory;
  const std::string path = (directory / "run.json").string();
  for (const char* option :
       {"--max-updates", "--max-grad-norm", "--stages", "--beta2", "--lr-warmup", "--lr-last"}) {
    const std::string text =
        read_command(gpt + Arguments{option, "", "--print-config"}).text.value();
    EXPECT_NE(text.find(": null"), std::string::npos) << text;
    penstock::testing::write_file(path, text);
    EXPECT_EQ(read_command({"--print-config", "--config", path.c_str()}).text, text) << option;
  }
}

TEST(CommandLine, AutomaticStagesComeWithANumberOrWithIpusToCount) {
  const auto stages = [](const Arguments& arguments) { return *read(arguments)->pipeline.stages; };
  const StagesOption numbered = stages({"--stages", "auto:3"});
  EXPECT_TRUE(numbered.stages.empty());
  EXPECT_EQ(numbered.automatic, 3);
  const StagesOption counted = stages({"--stages", "auto", "--ipus", "0,1"});
  EXPECT_TRUE(counted.stages.empty());
  EXPECT_EQ(counted.automatic, std::nullopt);
}

TEST(CommandLine, ASwitchThatIsTurnedOffAgainGivesNoConstant) {
  const auto options = read({"--optimizer", "sgd", "--keras-variant=false"});
  EXPECT_EQ(constant(options.value(), "keras_variant"), std::nullopt);
  EXPECT_EQ(constant(read({"--no-bias-correction=false"}).value(), "bias_correction"),
            std::nullopt);
}

TEST(CommandLine, TheHelpSaysWhichRulesHaveAConstantAndWhatItIsThere) {
  const auto help_of = [](const char* option) { return find_option(option)->help; };
  EXPECT_EQ(help_of("momentum"),
            "share of the velocity that stays from update to update; for sgd and rmsprop [0]");
  EXPECT_EQ(help_of("weight-decay"),
            "how much the weights shrink [0.01 for adamw and lamb, else 0]");
  EXPECT_EQ(help_of("no-bias-correction"),
            "do not correct the moments, which are biased towards 0; for adam, adamw and lamb");
}

TEST(CommandLine, ReadsTheOtherSpellingOfOptimizerAndNeverShowsIt) {
  const auto pipeline = [](const Arguments& arguments) { return read(arguments).value().pipeline; };
  EXPECT_TRUE(pipeline({"--offload-optimiser"}).offload_optimizer);
  EXPECT_TRUE(pipeline({"--shard-optimiser"}).shard_optimizer);
  EXPECT_TRUE(pipeline({"--optimiser-on-ipu"}).optimizer_on_ipu);
  EXPECT_FALSE(pipeline({"--offload-optimiser=false"}).offload_optimizer);
  EXPECT_EQ(help_text().find("optimiser"), std::string::npos);
  EXPECT_EQ(configuration_text(read({"--offload-optimiser"}).value()).find("optimiser"),
            std::string::npos);
}

struct Refusal {
  Arguments arguments;
  const char* text;  ///< The refusal's message begins with this text.
};

// C4 of docs/reference.md: a misspelled option such as --epoch is refused, and so is a value that
// an option cannot have.
TEST(CommandLine, RefusesWithTheArgumentsNameFirst) {
  const std::vector<Refusal> refusals{
      {{"--foo"}, "unrecognised option '--foo'; --help lists what there is"},
      {{"-x"}, "unrecognised option '-x'"},
      {{"--epoch", "3"},
       "unrecognised option '--epoch'; did you mean --epochs? --help lists what there is"},
      {{"--lr", "0.1"}, "unrecognised option '--lr'; did you mean --learning-rate? "},
      {{"--replicas=2"}, "unrecognised option '--replicas=2'; did you mean --replication-factor? "},
      {{"--batch_size", "8"}, "unrecognised option '--batch_size'; did you mean --batch-size? "},
      {{"--offload-optimiser", "--offload-optimizer"}, "--offload-optimizer: given twice"},
      {{"--layers", "2"}, "--layers: --model mnist-cnn has no such size; gpt has"},
      {{"--model", "gpt"}, "--dataset text: needs --data-dir, the file that has the text"},
      {{"--model", "gpt", "--dataset", "mnist", "--data-dir", "d"},
       "--dataset mnist: --model gpt is trained on --dataset text"},
      {{"--dataset", "text", "--data-dir", "t"},
       "--dataset text: --model mnist-cnn is trained on images; add --model gpt"},
      {{"--model", "gpt", "--data-dir", "t", "--heads", "3"},
       "--heads: expected a width that is a multiple of the heads, got --width 128 and --heads 3"},
      {{"--model", "gpt", "--data-dir", "t", "--dropout", "1"}, "--dropout: expected"},
      {{"--tokens", "bytes"}, "--tokens: --dataset fashion-mnist has none"},
      {{"--sample", "5"}, "--sample: --model mnist-cnn makes no text; gpt does"},
      {{"--model", "gpt", "--data-dir", "t", "--top-k", "5"}, "--top-k: needs --sample"},
      {{"--model", "gpt", "--data-dir", "t", "--prompt", "a"}, "--prompt: needs --sample"},
      {{"--model", "gpt", "--data-dir", "t", "--sample", "5", "--prompt", ""},
       "--prompt: expected at least one character"},
      {{"--resume"}, "--resume: needs --checkpoint-dir"},
      {{"--keep", "5"}, "--keep: needs --checkpoint-dir"},
      {{"--checkpoint-every", "5"}, "--checkpoint-every: needs --checkpoint-dir"},
      {{"--checkpoint-dir", "c", "--keep", "0"}, "--keep: expected"},
      {{"train"}, "unexpected argument \"train\""},
      {{"--seed", "1", "2"}, "unexpected argument \"2\""},
      {{""}, "unexpected argument \"\""},
      {{"--seed", "1", "--seed=1"}, "--seed: given twice"},
      {{"--debug", "--debug"}, "--debug: given twice"},
      {{"--debug=off"}, "--debug: expected true or false, got \"off\""},
      {{"--epochs"}, "the required argument for option '--epochs' is missing"},
      {{"--profile=yes"}, "--profile: expected true or false, got \"yes\""},
      {{"--epochs", "0"}, "--epochs: expected a whole number from 1 to 2147483647, got \"0\""},
      {{"--epochs", "12abc"}, "--epochs: expected a whole number"},
      {{"--epochs", "1.5"}, "--epochs: expected a whole number"},
      {{"--epochs", "2147483648"}, "--epochs: expected a whole number"},
      {{"--batch-size", "0"}, "--batch-size: expected a whole number"},
      {{"--batch-size", "-40"}, "--batch-size: expected a whole number"},
      {{"--device-iterations", "0"}, "--device-iterations: expected a whole number"},
      {{"--gradient-accumulation", "0"}, "--gradient-accumulation: expected a whole number"},
      {{"--test-batch-size", "0"}, "--test-batch-size: expected a whole number"},
      {{"--replication-factor", "0"}, "--replication-factor: expected a whole number"},
      {{"--threads", "0"}, "--threads: expected a whole number from 1 to 1024"},
      {{"--threads", "1025"}, "--threads: expected a whole number from 1 to 1024"},
      {{"--threads-per-ipu", "0"}, "--threads-per-ipu: expected a whole number from 1 to 1024"},
      {{"--threads-per-ipu", "1025"}, "--threads-per-ipu: expected a whole number from 1 to 1024"},
      {{"--stall-seconds", "0"}, "--stall-seconds: expected a number above 0 to 1e+06, got \"0\""},
      {{"--stall-seconds", "2e6"}, "--stall-seconds: expected a number above 0 to 1e+06"},
      {{"--num-workers", "-1"}, "--num-workers: expected a whole number from 0 to 1024"},
      {{"--buffered-batches", "0"}, "--buffered-batches: expected a whole number from 1 to 1024"},
      {{"--max-updates", "0"}, "--max-updates: expected a whole number"},
      {{"--seed", "18446744073709551616"}, "--seed: expected a whole number from 0 to"},
      {{"--seed", "-1"}, "--seed: expected a whole number"},
      {{"--learning-rate", "0"},
       "--learning-rate: expected a number above 0, from 1.2e-38 to 3.4e38 (f32's smallest and "
       "largest), got \"0\""},
      {{"--learning-rate", "-1e-3"}, "--learning-rate: expected a number above 0"},
      {{"--learning-rate", "nan"}, "--learning-rate: expected a number above 0"},
      {{"--learning-rate", "inf"}, "--learning-rate: expected a number above 0"},
      {{"--learning-rate", "1e400"}, "--learning-rate: expected a number above 0"},
      {{"--learning-rate", "1e39"},
       "--learning-rate: expected a number above 0, from 1.2e-38 to 3.4e38 (f32's smallest and "
       "largest), got \"1e39\""},
      {{"--learning-rate", " 1"}, "--learning-rate: expected a number above 0"},
      {{"--learning-rate", "0,1"}, "--learning-rate: expected a number above 0"},
      {{"--weight-decay", "-1"},
       "--weight-decay: expected a number from 0 to 3.4e38 (f32's largest)"},
      {{"--beta1", "1"}, "--beta1: expected a number from 0 and below 1"},
      {{"--learning-rate", "1e-60"}, "--learning-rate: expected a number above 0"},
      {{"--max-grad-norm", "1e-50"}, "--max-grad-norm: expected a number above 0"},
      {{"--max-weight-norm", "1.17e-38"}, "--max-weight-norm: expected a number above 0"},
      {{"--eps", "1e39"}, "--eps: expected a number from 0 to 3.4e38 (f32's largest)"},
      {{"--beta2", "0.99999999999"}, "--beta2: expected a number from 0 and below 1"},
      {{"--dampening", "-1"}, "--dampening: expected a number from 0"},
      {{"--alpha", "1"}, "--alpha: expected a number from 0 and below 1"},
      {{"--eps", "-1e-9"}, "--eps: expected a number from 0"},
      {{"--max-grad-norm", "0"}, "--max-grad-norm: expected a number above 0"},
      {{"--model", "resnet"}, "--model: expected one of cifar-cnn, fashion-cnn, mlp, mnist-cnn"},
      {{"--dataset", "cifar"},
       "--dataset: expected one of fashion-mnist, mnist, cifar10, folder, synthetic"},
      {{"--strategy", "phased"},
       "--strategy: expected one of pipelined, sharded, serial_phased, "
       "parallel_phased"},
      {{"--schedule", "1f1b"}, "--schedule: expected one of grouped, interleaved, sequential"},
      {{"--ipus", "0,,1"}, "--ipus: expected whole numbers from 0 to 65535, separated by commas"},
      {{"--ipus", "0,1,"}, "--ipus: expected whole numbers from 0 to 65535, separated by commas"},
      {{"--ipus", ""}, "--ipus: expected whole numbers from 0 to 65535, separated by commas"},
      {{"--ipus", "0,-1"}, "--ipus: expected whole numbers from 0 to 65535, separated by commas"},
      {{"--ipus", "0,65536"},
       "--ipus: expected whole numbers from 0 to 65535, separated by commas"},
      {{"--begin-block", "=1"},
       "--begin-block: expected a layer, as in layer4, or a layer and an IPU from 0 to 65535, as "
       "in layer4=1, got \"=1\""},
      {{"--begin-block", ""}, "--begin-block: expected a layer, "},
      {{"--begin-block", "layer4="}, "--begin-block: expected a layer, "},
      {{"--begin-block", "layer4=-1"}, "--begin-block: expected a layer, "},
      {{"--begin-block", "layer4=65536"}, "--begin-block: expected a layer, "},
      {{"--begin-block", "layer4=1=2"}, "--begin-block: expected a layer, "},
      {{"--begin-block", "layer3,,layer4"}, "--begin-block: expected a layer, "},
      {{"--begin-block", "layer3", "--begin-block", ""}, "--begin-block: expected a layer, "},
      {{"--begin-block", "layer4", "--stages", "auto:2"},
       "--begin-block: --stages auto cuts the network without regard to blocks; leave one out"},
      {{"--split-after", "a,,b"}, "--split-after: expected a layer, as in layer3, got \"\""},
      {{"--split-after", "a=1"}, "--split-after: expected a layer, as in layer3, got \"a=1\""},
      {{"--split-after", "a", "--stages", "auto:2"},
       "--split-after: --stages says by itself where stages begin; leave one out"},
      {{"--split-after", "a", "--begin-block", "b"},
       "--split-after: --begin-block says by itself where stages begin; leave one out"},
      {{"--onnx-constants", "a"}, "--onnx-constants: needs --onnx"},
      {{"--onnx", "n.onnx", "--onnx-constants", "a,"},
       "--onnx-constants: expected a tensor, as in pos_embed or *.mask, got \"\""},
      {{"--onnx", "n.onnx", "--model", "mlp"},
       "--onnx: the file's network takes the place of --model mlp; leave one out"},
      {{"--onnx", "n.onnx", "--layers", "2"}, "--layers: --onnx has no such size; gpt has"},
      {{"--onnx", "n.onnx", "--dataset", "text", "--data-dir", "t"},
       "--dataset text: --onnx is trained on images"},
      {{"--onnx", "n.onnx", "--sample", "5"}, "--sample: --onnx makes no text; gpt does"},
      {{"--stages", "B1||B2"}, "--stages: "},
      {{"--ipu-memory", "900"}, "--ipu-memory: expected a size such as 900MB, 1.5GB or 64KiB"},
      {{"--ipu-memory", "MB"}, "--ipu-memory: expected a size such as"},
      {{"--ipu-memory", "-1MB"}, "--ipu-memory: expected a size such as"},
      {{"--ipu-memory", "0kB"}, "--ipu-memory: expected a size such as"},
      {{"--ipu-memory", "1e30GB"}, "--ipu-memory: expected a size such as"},
      {{"--ipu-memory", "nanMB"}, "--ipu-memory: expected a size such as"},
      {{"--recompute", "some"},
       "--recompute: expected all, or whole numbers from 0 to 1024, separated by commas"},
      {{"--recompute", "0,-1"}, "--recompute: expected all, or whole numbers from 0 to 1024"},
      {{"--stages", "auto"}, "--stages auto: needs --ipus"},
      {{"--stages", "auto:2", "--strategy", "serial_phased"},
       "--stages auto: the phases of --strategy serial_phased are explicit: name their stages "
       "(--phases or --stages), or leave it out for one per block"},
      {{"--offload-minimum", "4kB"}, "--offload-minimum: needs --offload-optimizer, "},
      {{"--shard-minimum", "4"}, "--shard-minimum: needs --shard-optimizer"},
      {{"--shard-optimizer", "--shard-minimum", "1"},
       "--shard-minimum: expected a whole number from 2 to"},
      {{"--stages", "auto:"}, "--stages: expected auto:N with a whole number from 1 to 1024"},
      {{"--stages", "auto:0"}, "--stages: expected auto:N with a whole number from 1 to 1024"},
      {{"--stages", "auto:4x"}, "--stages: expected auto:N with a whole number from 1 to 1024"},
      {{"--stages", "auto:1025"}, "--stages: expected auto:N with a whole number from 1 to 1024"},
      {{"--metrics", ""}, "--metrics: expected a file's name"},
      {{"--momentum", "0.9"}, "--momentum: adamw has no momentum; it belongs to sgd and rmsprop"},
      {{"--optimizer", "sgd", "--beta1", "0.9"},
       "--beta1: sgd has no beta1; it belongs to adam, adamw and lamb"},
      {{"--optimizer", "rmsprop", "--nesterov"},
       "--nesterov: rmsprop has no nesterov; it belongs to sgd"},
      {{"--optimizer", "sgd", "--nesterov"},
       "--nesterov: expected a momentum of more than 0 and a dampening of 0, got 0 and 0"},
      {{"--optimizer", "sgd", "--keras-variant", "--dampening", "0.5"},
       "--keras-variant: expected a dampening of 0, got 0.5"},
      {{"--tf-variant"}, "--tf-variant: adamw has no tf-variant; it belongs to rmsprop"},
      {{"--lr-schedule", "step"}, "--lr-schedule step: needs --lr-step"},
      {{"--lr-schedule", "exponential"}, "--lr-schedule exponential: needs --lr-decay"},
      {{"--lr-step", "9"}, "--lr-step: the --lr-schedule constant has none"},
      {{"--lr-schedule", "step", "--lr-step", "9", "--lr-last", "0"},
       "--lr-last: the --lr-schedule step has none"},
      {{"--dataset", "mnist"}, "--dataset mnist: needs --data-dir"},
      {{"--dataset", "cifar10"}, "--dataset cifar10: needs --data-dir"},
      {{"--dataset", "folder"}, "--dataset folder: needs --data-dir"},
      {{"--random-crops"}, "--random-crops: needs --dataset folder"},
      {{"--broken-images", "skip"}, "--broken-images: needs --dataset folder"},
      {{"--broken-images", "ignore"},
       "--broken-images: expected one of refuse, skip, got \"ignore\""},
      {{"--download", "mnist"}, "--download: needs --data-dir"},
      {{"--download", "text", "--data-dir", "d"}, "--download: expected "},
      {{"--download-url", "https://example.org/"}, "--download-url: needs --download"},
      {{"--download-ca", "ca.pem"}, "--download-ca: needs --download"},
      {{"--download", "mnist", "--data-dir", "d", "--download-url", "file:///etc/"},
       "--download-url: expected an address that begins with https:// or http://"},
      {{"--download", "mnist", "--data-dir", "d", "--download-url", "https://example.org"},
       "--download-url: expected an address that ends with a slash"},
      {{"--dataset", "synthetic", "--data-dir", "d"}, "--data-dir: synthetic images"},
  };
  for (const Refusal& expected : refusals) {
    const std::string got = refusal(expected.arguments);
    EXPECT_EQ(got.substr(0, std::string(expected.text).size()), expected.text) << got;
    EXPECT_EQ(got.find('\n'), got.npos) << got;
  }
}

TEST(CommandLine, TakesAnOptionThatMayBeRepeatedAsAListToo) {
  const auto blocks = [](const Arguments& arguments) {
    return read(arguments).value().pipeline.begin_block;
  };
  EXPECT_EQ(blocks({"--begin-block", "a=0,b.c", "--begin-block=d=2"}),
            (std::vector<BlockStart>{{"a", 0}, {"b.c"}, {"d", 2}}));
  EXPECT_EQ(blocks({}), std::nullopt);
}

TEST(CommandLine, AnOptionThatMayBeRepeatedReplacesWhatTheFileHas) {
  const penstock::testing::TemporaryDirectory directory;
  const std::string file = (directory / "run.json").string();
  penstock::testing::write_file(file, "{\"begin-block\": \"layer2,layer3=1\"}");
  const auto blocks = [&](const Arguments& more) {
    return read(Arguments{"--config", file.c_str()} + more).value().pipeline.begin_block;
  };
  EXPECT_EQ(blocks({}), (std::vector<BlockStart>{{"layer2"}, {"layer3", 1}}));
  EXPECT_EQ(blocks({"--begin-block", "layer4"}), std::vector<BlockStart>{{"layer4"}});
  EXPECT_EQ(blocks({"--begin-block", ""}), std::nullopt);
}

TEST(CommandLine, RecomputesEveryStageByAWord) {
  EXPECT_EQ(read({"--recompute", "all"})->pipeline.recompute, std::vector<int>{});
}

TEST(CommandLine, HelpExplainsEveryOptionAndItsDefault) {
  const std::string help = help_text();
  for (const OptionGroup& group : option_groups())
    for (const OptionRow& row : group.rows)
      EXPECT_NE(help.find("--" + row.name + ' '), help.npos) << row.name;
  EXPECT_NE(help.find("[0.001]"), help.npos);
  EXPECT_NE(help.find("[./profile]"), help.npos);
}

TEST(CommandLine, HelpNeedsNothingElseToBeRight) {
  EXPECT_FALSE(read({"--help"}));
  EXPECT_FALSE(read({"-h"}));
  EXPECT_FALSE(read({"--epochs", "0", "--help"}));
  EXPECT_EQ(read_command({"--help", "--print-config"}).text, help_text());
  EXPECT_EQ(read_command({"--version"}).text,
            "penstock-train " + std::string(penstock::version) + '\n');
}

}  // namespace
}  // namespace trainer
