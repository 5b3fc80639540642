#include "apps/trainer/run_setup.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "apps/trainer/begin_blocks.hpp"
#include "apps/trainer/options/engine_options.hpp"
#include "apps/trainer/options/option_spelling.hpp"
#include "apps/trainer/options/rule_options.hpp"
#include "apps/trainer/output/decimal_text.hpp"
#include "apps/trainer/run_notes.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

/// Returns a whole number as a text, or "more than" the largest one up to which a double is exact.
std::string whole_text(double number) {
  constexpr double exact = 0x1p53;
  return number <= exact ? decimal_text(number, 0) : "more than " + decimal_text(exact, 0);
}

penstock::Options with_bar(penstock::Options options, const ProgressStream& stream,
                           const std::string& title) {
  options.runtime.compile_progress = compile_bar(stream, title);
  return options;
}

/// Makes the model for training or inference. An error of the engine is thrown with the names of
/// the command line's options in its text.
template <class Running, class... Arguments>
Running make_running(const PipelineOptions& options, const Arguments&... arguments) try {
  return {arguments...};
} catch (const penstock::Error& error) {
  const bool of_stages = error.code() == penstock::Errc::invalid_topology;
  std::string text =
      of_stages ? stages_refusal(options, error.what()) : with_option_names(error.what());
  const std::string batch_size = "(--batch-size)";
  if (const auto at = text.find(batch_size);
      at != text.npos && std::is_same_v<Running, penstock::InferenceModel>)
    text.replace(at, batch_size.size(), "(--test-batch-size)");
  throw penstock::Error(error.code(), text);
}

/// Lets the weights that are no matrices, such as those of norms, keep out of the weight decay.
void keep_vectors_from_decay(penstock::Optimizer& optimizer, const penstock::Model& model) {
  penstock::ParameterGroup group{.parameters = {}, .settings = optimizer.settings};
  set_constant(group.settings, "weight_decay", 0);
  for (const penstock::ParameterInfo& info : model.parameters())
    if (info.trainable && info.shape.rank() < 2) group.parameters.push_back(info.name);
  if (!group.parameters.empty()) optimizer.groups = {group};
}

bool is_finite(const penstock::Tensor& tensor) {
  return std::ranges::all_of(tensor.as<float>(), [](float x) { return std::isfinite(x); });
}

/// Loads the weights of the file at `path`, which PyTorch may have written: it counts the
/// micro-batches of each batch norm, and the counts of norms that have a momentum are of no use
/// here.
void load_weights(penstock::Model& model, const std::string& path) {
  const auto is_count = [](const std::string& name) {
    return name.ends_with(".num_batches_tracked");
  };
  const penstock::LoadedWeights loaded = model.load_weights(path, {.allow_unexpected = true});
  // Without allow_unexpected, the model refuses the other tensors that it has ignored.
  if (!std::ranges::all_of(loaded.ignored, is_count)) model.load_weights(path);
}

}  // namespace

void of_option(const std::string& option, const std::function<void()>& action) try {
  action();
} catch (const penstock::Error& error) {
  throw penstock::Error(error.code(), option + ": " + error.what());
}

void check_finite(const Task& task, const std::string& expectation, const std::string& advice) {
  for (const penstock::ParameterInfo& info : task.model.parameters()) {
    if (std::ranges::count(task.infinite_constants, info.name) > 0) continue;
    if (!is_finite(task.model.weight(info.name)))
      throw penstock::Error(
          penstock::Errc::invalid_data,
          expectation + ", got infinity or nan in tensor \"" + info.name + '"' + advice);
  }
}

void check_onnx_size(const std::vector<penstock::ParameterInfo>& parameters) {
  constexpr double format_limit = 0x1p31, kept_for_nodes = 0x1p26;
  double bytes = 0;
  for (const penstock::ParameterInfo& info : parameters)
    bytes += 4.0 * static_cast<double>(info.shape.elements());
  if (bytes > format_limit - kept_for_nodes)
    throw penstock::Error(penstock::Errc::unsupported,
                          "expected a model whose weights fit into one ONNX file, which has less "
                          "than 2 GB, got weights of " +
                              std::to_string(static_cast<std::int64_t>(bytes)) +
                              " bytes; --save-weights saves weights of any size");
}

Task prepared_task(const TrainerOptions& options, const std::optional<OnnxNetwork>& imported,
                   const ProgressStream& stream) {
  Task task = make_task(options, imported, stream);
  if (options.pipeline.begin_block) begin_blocks(task.model, *options.pipeline.begin_block);
  if (options.pipeline.split_after) split_after(task.model, *options.pipeline.split_after);
  if (options.output.save_onnx)
    of_option("--save-onnx", [&] {
      check_onnx_size(task.model.parameters());
      task.model.check_onnx();
    });
  const std::optional<std::string>& weights = options.network.init_weights;
  if (!weights) return task;
  of_option("--init-weights", [&] { load_weights(task.model, *weights); });
  check_finite(task, "--init-weights: expected finite weights in \"" + *weights + '"');
  return task;
}

penstock::Options checked(const penstock::Options& options, const Task& task) {
  const std::int64_t samples = task.train->size();
  // The number is computed in double, where the product of four ints cannot overflow.
  const double needed = double{1} * options.batch_size * options.device_iterations *
                        options.training.gradient_accumulation *
                        options.topology.replication_factor;
  if (needed > static_cast<double>(samples)) {
    throw penstock::Error(penstock::Errc::invalid_data,
                          "one step needs " + whole_text(needed) + " training " + task.sample_name +
                              "s (" + step_size(options) + "), there are " +
                              std::to_string(samples) + ": lower one of these options");
  }
  with_option_names_in_errors([&] { options.validate(); });
  return options;
}

penstock::TrainingModel make_training(const PipelineOptions& options, const penstock::Model& model,
                                      const penstock::Options& engine,
                                      const penstock::Optimizer& optimizer,
                                      const ProgressStream& stream) {
  return make_running<penstock::TrainingModel>(
      options, model, with_bar(engine, stream, "Compiling for training"), optimizer);
}

penstock::InferenceModel make_inference(const PipelineOptions& options,
                                        const penstock::Model& model,
                                        const penstock::Options& engine,
                                        const ProgressStream& stream) {
  return make_running<penstock::InferenceModel>(
      options, model, with_bar(engine, stream, "Compiling for inference"));
}

std::int64_t run_updates(const TrainingOptions& training, const penstock::DataLoader& loader,
                         const penstock::Options& engine) {
  const std::int64_t all = training.epochs * loader.batches() * engine.device_iterations;
  return std::min(all, training.max_updates.value_or(all));
}

penstock::Optimizer scheduled_optimizer(const TrainerOptions& options, const Task& task,
                                        std::int64_t updates) {
  penstock::Optimizer optimizer = make_optimizer(options.optimizer);
  if (task.vocabulary) keep_vectors_from_decay(optimizer, task.model);
  optimizer.schedule = make_schedule(options.learning_rate, updates);
  return optimizer;
}

std::vector<RunFile> input_files(const TrainerOptions& options, const Task& task) {
  std::vector<RunFile> files;
  if (options.configuration) files.push_back({"--config", *options.configuration});
  if (options.network.onnx) files.push_back({"--onnx", *options.network.onnx});
  if (options.network.init_weights)
    files.push_back({"--init-weights", *options.network.init_weights});
  if (options.optimizer.init_state)
    files.push_back({"--init-optimizer-state", *options.optimizer.init_state});
  for (const std::string& file : task.files) files.push_back({"--dataset", file});
  return files;
}

}  // namespace trainer
