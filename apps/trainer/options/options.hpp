// TrainerOptions: what penstock-train is told about a run, as plain values with their defaults.
// How each is spelled, explained and checked is in option_table.cpp, one row per field.
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
  std::uint64_t seed = 0;                        ///< of the weights and of the shuffling
  std::optional<std::string> init_weights = {};  ///< file
};

struct DataOptions {
  DatasetName dataset = DatasetName::fashion_mnist;
  std::optional<std::string> data_dir = {};
  bool no_shuffle = false;
  int num_workers = 2;       ///< threads that read samples
  int buffered_batches = 3;  ///< assembled ahead
};

struct TrainingOptions {
  int batch_size = 40;  ///< samples per micro-batch
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

/// How the learning rate changes, in weight updates.
struct LearningRateOptions {
  ScheduleName schedule = ScheduleName::constant;
  std::optional<std::int64_t> warm_up = {};
  std::optional<std::int64_t> step = {};
  std::optional<double> decay = {};          ///< of `step` 0.1
  std::optional<std::int64_t> updates = {};  ///< of `cosine`; none: until the run's end
  std::optional<double> last = {};           ///< of `cosine` 0
};

struct StagesOption {
  std::vector<penstock::Stage> stages = {};  ///< empty: the engine cuts the network
  std::optional<int> automatic = {};         ///< into so many; none: as many as there are IPUs
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
  std::optional<std::int64_t> ipu_memory = {};  ///< bytes
  int replication_factor = 1;
  penstock::Reduction reduction = penstock::Reduction::mean;
  penstock::ReductionStrategy reduction_strategy = penstock::ReductionStrategy::post;
  bool offload_optimizer = false;
  bool offload_accumulators = false;
  bool offload_activations = false;
  bool offload_weights = false;
  std::optional<std::int64_t> offload_minimum = {};  ///< bytes
  bool shard_optimizer = false;
  std::optional<std::int64_t> shard_minimum = {};  ///< elements
  /// The stages that recompute; empty: all but the last.
  std::optional<std::vector<int>> recompute = {};
  std::optional<int> threads = {};
  std::optional<int> threads_per_ipu = {};
  std::optional<std::string> cache_dir = {};    ///< none: as the environment says
  std::optional<std::int64_t> cache_size = {};  ///< bytes
};

struct OutputOptions {
  std::optional<std::string> save_weights = {};          ///< file
  std::optional<std::string> save_optimizer_state = {};  ///< file
  std::optional<std::string> metrics = {};               ///< file
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
  std::optional<std::string> configuration = {};  ///< the file that some of them came from

  /// Checks what no single option can tell. @throws penstock::Error invalid_argument, its text
  /// opening with the option that does not fit the others.
  void validate() const;
};

std::string_view to_string(DatasetName name) noexcept;
std::string_view to_string(ScheduleName name) noexcept;

}  // namespace trainer
