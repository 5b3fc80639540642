// TrainerOptions says what a run of penstock-train is to do, as plain values with their defaults.
// How each option is spelled, explained and checked is in option_table.cpp, one row per field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "penstock/options.hpp"

namespace trainer {

enum class DatasetName : std::uint8_t { fashion_mnist, mnist, cifar10, synthetic };
enum class ScheduleName : std::uint8_t { constant, step, exponential, cosine };

struct NetworkOptions {
  std::string model = "mnist-cnn";
  std::uint64_t seed = 0;  ///< Decides on the first weights and on the shuffling.
  std::optional<std::string> init_weights = {};  ///< Names a file.
};

struct DataOptions {
  DatasetName dataset = DatasetName::fashion_mnist;
  std::optional<std::string> data_dir = {};
  bool no_shuffle = false;
  int num_workers = 2;       ///< Counts the threads that read samples.
  int buffered_batches = 3;  ///< Counts the batches that are assembled ahead.
};

struct TrainingOptions {
  int batch_size = 40;  ///< Counts the samples of a micro-batch.
  int device_iterations = 10;
  int gradient_accumulation = 10;
  int epochs = 3;
  std::optional<std::int64_t> max_updates = {};
  int test_batch_size = 8;
};

struct OptimizerOptions {
  std::string rule = "adamw";
  double learning_rate = 0.001;
  /// Holds the other constants that are given, by their names in the engine; a switch is 1 or 0.
  /// Constants that are not given keep the defaults of the rule.
  std::map<std::string, double> constants = {};
  std::optional<double> max_grad_norm = {};
  double loss_scaling = 1;
  std::optional<std::string> init_state = {};  ///< Names a file.
};

/// Says how the learning rate changes. Its lengths of time are numbers of weight updates.
struct LearningRateOptions {
  ScheduleName schedule = ScheduleName::constant;
  std::optional<std::int64_t> warm_up = {};
  std::optional<std::int64_t> step = {};
  std::optional<double> decay = {};  ///< Is 0.1 for the schedule `step` if it is not given.
  /// Is the length of the schedule `cosine`, which lasts until the run's end if it is not given.
  std::optional<std::int64_t> updates = {};
  /// Is the share of the learning rate with which the schedule `cosine` ends; 0 if it is not given.
  std::optional<double> last = {};
};

struct StagesOption {
  std::vector<penstock::Stage> stages = {};  ///< Is empty if the engine is to cut the network.
  /// Says into how many stages the engine cuts the network; if it is not given, there are as many
  /// as there are IPUs.
  std::optional<int> automatic = {};
};

struct PipelineOptions {
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
  std::optional<std::int64_t> ipu_memory = {};  ///< Counts bytes.
  int replication_factor = 1;
  penstock::Reduction reduction = penstock::Reduction::mean;
  penstock::ReductionStrategy reduction_strategy = penstock::ReductionStrategy::post;
  bool offload_optimizer = false;
  bool offload_accumulators = false;
  bool offload_activations = false;
  bool offload_weights = false;
  std::optional<std::int64_t> offload_minimum = {};  ///< Counts bytes.
  bool shard_optimizer = false;
  std::optional<std::int64_t> shard_minimum = {};  ///< Counts elements.
  /// Has the numbers of the stages that recompute. An empty list stands for all stages but the
  /// last; if no list is given, no stage recomputes.
  std::optional<std::vector<int>> recompute = {};
  std::optional<int> threads = {};
  std::optional<int> threads_per_ipu = {};
  std::optional<std::string> cache_dir = {};    ///< If it is not given, PENSTOCK_CACHE_DIR decides.
  std::optional<std::int64_t> cache_size = {};  ///< Counts bytes.
};

struct OutputOptions {
  std::optional<std::string> save_weights = {};          ///< Names a file.
  std::optional<std::string> save_optimizer_state = {};  ///< Names a file.
  std::optional<std::string> metrics = {};               ///< Names a file.
  std::optional<int> metrics_port = {};                  ///< Is 0 for any port that is free.
  std::optional<std::string> tensorboard = {};           ///< Names a directory.
  bool profile = false;
  std::string profile_dir = "./profile";
  bool debug = false;
  bool no_progress = false;
};

struct TrainerOptions {
  NetworkOptions network = {};
  DataOptions data = {};
  TrainingOptions training = {};
  OptimizerOptions optimizer = {};
  LearningRateOptions learning_rate = {};
  PipelineOptions pipeline = {};
  OutputOptions output = {};
  std::optional<std::string> configuration = {};  ///< Names the file that some options came from.

  /// Checks that the options fit each other. @throws penstock::Error invalid_argument, whose text
  /// begins with the option that does not fit the others.
  void validate() const;
};

std::string_view to_string(DatasetName name) noexcept;
std::string_view to_string(ScheduleName name) noexcept;

}  // namespace trainer
