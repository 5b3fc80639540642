// TrainerOptions says what a run of penstock-train is to do, as plain values with their defaults.
// How each option is spelled, explained and checked is in option_table.cpp, one row per field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/networks/gpt.hpp"
#include "penstock/options.hpp"

namespace trainer {

enum class DatasetName : std::uint8_t { fashion_mnist, mnist, cifar10, folder, synthetic, text };
enum class BrokenImagesName : std::uint8_t { refuse, skip };
enum class TokenName : std::uint8_t { characters, bytes };
enum class ScheduleName : std::uint8_t { constant, step, exponential, cosine };

struct NetworkOptions {
  std::string model = "mnist-cnn";
  /// `onnx` is the path of a file in the ONNX format, whose network takes the place of `model`.
  std::optional<std::string> onnx = {};
  /// Tensors of the file whose names match one of these patterns are not trained.
  std::optional<std::vector<std::string>> onnx_constants = {};
  std::uint64_t seed = 0;  ///< `seed` decides on everything random, such as the first weights.
  std::optional<std::string> init_weights = {};  ///< `init_weights` is the path of a file.
  // The sizes that follow are those of --model gpt. If a size is not given, it has the network's
  // default.
  std::optional<int> layers = {};
  std::optional<int> heads = {};
  std::optional<int> width = {};
  std::optional<int> context = {};
  std::optional<double> dropout = {};
};

struct DataOptions {
  DatasetName dataset = DatasetName::fashion_mnist;
  /// `data_dir` is the path of a directory or, of the dataset `text`, of a file.
  std::optional<std::string> data_dir = {};
  TokenName tokens = TokenName::characters;  ///< The dataset `text` consists of these.
  /// `random_crops` says that the training images of the dataset `folder` are random windows of the
  /// images in the files.
  bool random_crops = false;
  /// The images of the dataset `folder` get this many rows and columns. If the number is not given,
  /// they get those that the network is made for.
  std::optional<int> image_size = {};
  /// `broken_images` says what is done about images of the dataset `folder` that cannot be decoded.
  BrokenImagesName broken_images = BrokenImagesName::refuse;
  bool no_shuffle = false;
  int num_workers = 2;       ///< This many threads read samples; 0 counts as 1.
  int buffered_batches = 3;  ///< This many batches are assembled ahead.
};

/// DownloadOptions say whether the program downloads a data set, in place of a run.
struct DownloadOptions {
  std::optional<DatasetName> dataset = {};  ///< This data set goes to DataOptions::data_dir.
  /// The files are at this address, which ends with a slash. If it is not given, they are where
  /// they were published.
  std::optional<std::string> url = {};
  /// `authorities` is the path of a file of certificates; see FetchRequest::authorities.
  std::optional<std::string> authorities = {};
};

struct TrainingOptions {
  int batch_size = 40;  ///< A micro-batch of the training has this many samples.
  int device_iterations = 10;
  int gradient_accumulation = 10;
  int epochs = 3;
  std::optional<std::int64_t> max_updates = {};
  int test_batch_size = 8;
};

struct OptimizerOptions {
  std::string rule = "adamw";
  double learning_rate = 0.001;
  /// `constants` are the other constants that are given. The keys are the names of the constants in
  /// the engine; a switch is 1 or 0. Constants that are not given keep the defaults of the rule.
  std::map<std::string, double> constants = {};
  std::optional<double> max_grad_norm = {};
  double loss_scaling = 1;
  std::optional<std::string> init_state = {};  ///< `init_state` is the path of a file.
};

/// LearningRateOptions say how the learning rate changes. Lengths of time are numbers of weight
/// updates.
struct LearningRateOptions {
  ScheduleName schedule = ScheduleName::constant;
  std::optional<std::int64_t> warm_up = {};
  std::optional<std::int64_t> step = {};
  /// If `decay` is not given, the schedule `step` has a decay of 0.1.
  std::optional<double> decay = {};
  /// `updates` is the length of the schedule `cosine`. If the length is not given, the schedule
  /// lasts until the end of the run.
  std::optional<std::int64_t> updates = {};
  /// The schedule `cosine` ends with this share of the learning rate, or with 0 if no share is
  /// given.
  std::optional<double> last = {};
};

struct StagesOption {
  /// `stages` is empty if the engine is to cut the network.
  std::vector<penstock::Stage> stages = {};
  /// The engine cuts the network into this many stages. If the number is not given, there are as
  /// many stages as there are IPUs.
  std::optional<int> automatic = {};
};

/// A BlockStart says that a block begins at a layer, whose name the block gets.
struct BlockStart {
  std::string layer;
  std::optional<int> ipu = {};

  bool operator==(const BlockStart&) const = default;
};

struct PipelineOptions {
  /// `begin_block` takes the place of the blocks that the network has by itself.
  std::optional<std::vector<BlockStart>> begin_block = {};
  /// Stages end behind these layers. They take the place of the network's blocks, too.
  std::optional<std::vector<std::string>> split_after = {};
  penstock::Strategy strategy = penstock::Strategy::pipelined;
  penstock::PipelineSchedule schedule = penstock::PipelineSchedule::grouped;
  std::optional<StagesOption> stages = {};
  std::optional<std::vector<penstock::Phase>> phases = {};
  penstock::PhaseLiveness phase_liveness = penstock::PhaseLiveness::always_live;
  bool separate_backward_phase = false;
  bool batch_serial = false;
  bool weights_on_ipu = false;
  bool activations_on_ipu = false;
  bool accumulators_on_ipu = false;
  bool optimizer_on_ipu = false;
  std::optional<std::vector<int>> ipus = {};
  std::optional<std::int64_t> ipu_memory = {};  ///< An IPU has this many bytes of memory.
  int replication_factor = 1;
  penstock::Reduction reduction = penstock::Reduction::mean;
  penstock::ReductionStrategy reduction_strategy = penstock::ReductionStrategy::post;
  bool offload_optimizer = false;
  bool offload_accumulators = false;
  bool offload_activations = false;
  bool offload_weights = false;
  std::optional<std::int64_t> offload_minimum = {};  ///< `offload_minimum` is in bytes.
  bool shard_optimizer = false;
  std::optional<std::int64_t> shard_minimum = {};  ///< `shard_minimum` is a number of elements.
  /// `recompute` has the numbers of the stages that recompute. An empty list stands for all stages
  /// but the last; if no list is given, no stage recomputes.
  std::optional<std::vector<int>> recompute = {};
  std::optional<int> threads = {};
  std::optional<int> threads_per_ipu = {};
  std::optional<double> stall_seconds = {};
  std::optional<int> recovery_attempts = {};
  std::optional<double> recovery_wait = {};  ///< `recovery_wait` is in seconds.
  /// If `cache_dir` is not given, PENSTOCK_CACHE_DIR decides.
  std::optional<std::string> cache_dir = {};
  std::optional<std::int64_t> cache_size = {};  ///< `cache_size` is in bytes.
};

struct OutputOptions {
  std::optional<std::string> save_weights = {};  ///< `save_weights` is the path of a file.
  std::optional<std::string> save_onnx = {};     ///< `save_onnx` is the path of a file.
  /// `save_optimizer_state` is the path of a file.
  std::optional<std::string> save_optimizer_state = {};
  std::optional<std::string> metrics = {};      ///< `metrics` is the path of a file.
  std::optional<int> metrics_port = {};         ///< The port 0 stands for any port that is free.
  std::optional<std::string> tensorboard = {};  ///< `tensorboard` is the path of a directory.
  bool profile = false;
  std::string profile_dir = "./profile";
  bool debug = false;
  bool no_progress = false;
};

/// CheckpointOptions say where a run keeps its checkpoints, and whether it goes on from one.
struct CheckpointOptions {
  std::optional<std::string> dir = {};  ///< `dir` is the path of a directory.
  std::int64_t every = 100;             ///< A checkpoint is made after so many weight updates.
  int keep = 3;                         ///< So many of the newest checkpoints are kept.
  bool resume = false;
};

/// ContinuationOptions say how a language model goes on with a text after its training.
struct ContinuationOptions {
  std::optional<std::int64_t> sample = {};  ///< The text goes on for this many tokens.
  /// `prompt` is what the text begins with. If it is not given, the text begins with the end of a
  /// line or, if the vocabulary has none, with the first token of the vocabulary.
  std::optional<std::string> prompt = {};
  /// The logits are divided by `temperature` before a token is drawn. If it is 0, the token with
  /// the largest logit is taken.
  double temperature = 0.8;
  std::optional<int> top_k = {};  ///< Only so many tokens with the largest logits are drawn.
};

struct TrainerOptions {
  NetworkOptions network = {};
  DataOptions data = {};
  DownloadOptions download = {};
  TrainingOptions training = {};
  OptimizerOptions optimizer = {};
  LearningRateOptions learning_rate = {};
  PipelineOptions pipeline = {};
  ContinuationOptions continuation = {};
  CheckpointOptions checkpoints = {};
  OutputOptions output = {};
  /// `configuration` is the path of the file that some options came from, if there is such a file.
  std::optional<std::string> configuration = {};

  /// Checks that the options fit each other. @throws penstock::Error invalid_argument, whose text
  /// begins with the option that does not fit the others.
  void validate() const;
};

/// `language_model` is the name of the model that is trained on texts.
inline constexpr const char* language_model = "gpt";

/// Returns the sizes of the language model that `options` ask for, all but that of the vocabulary.
penstock::networks::GptOptions gpt_options(const NetworkOptions& options);

inline bool is_text(DatasetName dataset) {
  return dataset == DatasetName::text;
}

/// Returns the options that a run has if nothing but the model is given. They are the defaults of
/// the fields, except for --model gpt, which has the ones of nanoGPT for a CPU.
TrainerOptions defaults_of(const std::string& model);
/// Some defaults of a model do not fit other values of these options.
inline constexpr std::string_view options_with_defaults[] = {
    "optimizer", "lr-schedule", "strategy", "phases", "ipus", "begin-block", "split-after"};
/// Returns `defaults`, which are those of a model, without the ones that do not fit `chosen`, which
/// has these options as the user has set them.
TrainerOptions fitting_defaults(TrainerOptions defaults, const TrainerOptions& chosen);

std::string_view to_string(DatasetName name) noexcept;
std::string_view to_string(BrokenImagesName name) noexcept;
std::string_view to_string(TokenName name) noexcept;
std::string_view to_string(ScheduleName name) noexcept;

}  // namespace trainer
