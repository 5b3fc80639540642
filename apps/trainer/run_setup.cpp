#include "apps/trainer/run_setup.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "apps/trainer/options/engine_options.hpp"
#include "apps/trainer/options/option_spelling.hpp"
#include "apps/trainer/options/rule_options.hpp"
#include "apps/trainer/output/decimal_text.hpp"
#include "apps/trainer/run_notes.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

/// Returns the shape of an image that `network` takes.
penstock::Shape image_of(const penstock::networks::Network& network) {
  return {network.channels, network.size, network.size};
}

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

}  // namespace

void read_file(const std::string& option, const std::function<void()>& read) try {
  read();
} catch (const penstock::Error& error) {
  throw penstock::Error(error.code(), option + ": " + error.what());
}

void check_finite(const penstock::Model& model, const std::string& expectation,
                  const std::string& advice) {
  for (const penstock::ParameterInfo& info : model.parameters()) {
    const penstock::Tensor weight = model.weight(info.name);
    const auto values = weight.as<float>();
    if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); }))
      throw penstock::Error(
          penstock::Errc::invalid_data,
          expectation + ", got infinity or nan in tensor \"" + info.name + '"' + advice);
  }
}

penstock::Model make_model(const penstock::networks::Network& network,
                           const NetworkOptions& options) {
  penstock::Model model = network.build(options.seed);
  if (!options.init_weights) return model;
  read_file("--init-weights", [&] { model.load_weights(*options.init_weights); });
  check_finite(model,
               "--init-weights: expected finite weights in \"" + *options.init_weights + '"');
  return model;
}

Images load_images(const TrainerOptions& options, const penstock::networks::Network& network,
                   const ProgressStream& stream) {
  constexpr std::int64_t splits = 2;
  std::optional<Progress> progress;
  const auto on_read = [&] {
    if (!progress && stream.terminal) progress.emplace(stream, "Loading images", splits);
    if (progress) progress->advance("");
  };
  return open_images(options.data, options.network.seed, network.normalization, image_of(network),
                     on_read);
}

penstock::Options checked(const penstock::Options& options, std::int64_t images) {
  // The number is computed in double, where the product of four ints cannot overflow.
  const double needed = double{1} * options.batch_size * options.device_iterations *
                        options.training.gradient_accumulation *
                        options.topology.replication_factor;
  if (needed > static_cast<double>(images)) {
    throw penstock::Error(penstock::Errc::invalid_data,
                          "one step needs " + whole_text(needed) + " training images (" +
                              step_size(options) + "), there are " + std::to_string(images) +
                              ": lower one of these options");
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

penstock::Optimizer scheduled_optimizer(const TrainerOptions& options, std::int64_t updates) {
  penstock::Optimizer optimizer = make_optimizer(options.optimizer);
  optimizer.schedule = make_schedule(options.learning_rate, updates);
  return optimizer;
}

std::vector<RunFile> input_files(const TrainerOptions& options, const Images& images) {
  std::vector<RunFile> files;
  if (options.configuration) files.push_back({"--config", *options.configuration});
  if (options.network.init_weights)
    files.push_back({"--init-weights", *options.network.init_weights});
  if (options.optimizer.init_state)
    files.push_back({"--init-optimizer-state", *options.optimizer.init_state});
  for (const std::string& file : images.files) files.push_back({"--dataset", file});
  return files;
}

}  // namespace trainer
