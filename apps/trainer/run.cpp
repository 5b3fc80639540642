#include "apps/trainer/run.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "apps/trainer/options/engine_options.hpp"
#include "apps/trainer/options/idle_options.hpp"
#include "apps/trainer/options/option_spelling.hpp"
#include "apps/trainer/options/rule_options.hpp"
#include "apps/trainer/output/console.hpp"
#include "apps/trainer/output/decimal_text.hpp"
#include "apps/trainer/output/run_files.hpp"
#include "apps/trainer/peak_memory.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

constexpr const char* scores = "logits";

/// Is advice about a training that diverges.
constexpr const char* remedy = "; a lower --learning-rate or a --max-grad-norm may help";

/// Returns the shape of an image that `network` takes.
penstock::Shape image_of(const penstock::networks::Network& network) {
  return {network.channels, network.size, network.size};
}

/// Checks that every weight is finite, because otherwise no image has a meaningful score. The
/// refusal begins with `expectation` and ends with `advice`.
void check_finite(const penstock::Model& model, const std::string& expectation,
                  const std::string& advice = "") {
  for (const penstock::ParameterInfo& info : model.parameters()) {
    const penstock::Tensor weight = model.weight(info.name);
    const auto values = weight.as<float>();
    if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); }))
      throw penstock::Error(
          penstock::Errc::invalid_data,
          expectation + ", got infinity or nan in tensor \"" + info.name + '"' + advice);
  }
}

/// Calls `read`, which reads the file that `option` names. An error gets the option's name in front
/// of its text.
template <class Read>
void read_file(const std::string& option, const Read& read) try {
  read();
} catch (const penstock::Error& error) {
  throw penstock::Error(error.code(), option + ": " + error.what());
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

std::string percent(double fraction) {
  return decimal_text(100 * fraction, 2) + '%';
}

std::string describe(const StepMetrics& step) {
  return "Loss:" + decimal_text(step.loss, 4) + " | Accuracy:" + percent(step.accuracy);
}

/// Returns as a text the product of options that is a step's number of images.
std::string step_size(const penstock::Options& options) {
  return "--batch-size " + std::to_string(options.batch_size) + " x --gradient-accumulation " +
         std::to_string(options.training.gradient_accumulation) + " x --device-iterations " +
         std::to_string(options.device_iterations) + " x --replication-factor " +
         std::to_string(options.topology.replication_factor);
}

/// Returns a whole number as a text, or "more than" the largest one up to which a double is exact.
std::string whole_text(double number) {
  constexpr double exact = 0x1p53;
  return number <= exact ? decimal_text(number, 0) : "more than " + decimal_text(exact, 0);
}

/// Returns `options`. @throws penstock::Error if they are not valid, or if one step needs more than
/// `images` images.
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

/// Returns a line with a step's numbers of images, micro-batches and weight updates, which are
/// easily confused.
std::string describe_step(const penstock::Options& options) {
  const penstock::CallSize step = penstock::size_of_step(options);
  return "Each step: images " + std::to_string(step.samples()) + " (" + step_size(options) +
         "), micro-batches " + std::to_string(step.micro_batches()) + ", weight updates " +
         std::to_string(step.updates());
}

void note_dropped(const penstock::DataLoader& loader, std::int64_t images) {
  if (loader.dropped_samples() == 0) return;
  print_note("each epoch leaves out " + std::to_string(loader.dropped_samples()) + " of " +
             std::to_string(images) + " training images, which fill no step of " +
             std::to_string(loader.samples_per_batch()));
}

void note_report(const penstock::CompileReport& report) {
  if (report.automatic_stages) print_note("stages auto: " + penstock::describe_stages(report));
  for (const std::string& warning : report.warnings) print_note(with_option_names(warning));
}

/// Prints the warnings that compiling for inference gave and compiling for training did not.
void note_more(const penstock::CompileReport& inference, const penstock::CompileReport& training) {
  for (const std::string& warning : inference.warnings)
    if (std::ranges::count(training.warnings, warning) == 0) print_note(with_option_names(warning));
}

/// Prints where the time of the training went, and what would make it faster.
void print_profile(const penstock::Profile& profile) {
  const std::string text = penstock::summary_of(profile);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    print_note("profile: " + with_option_names(text.substr(begin, end - begin)));
    begin = end + 1;
  }
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

StepMetrics step_metrics(const penstock::StepRecord& record, const penstock::StepResult& result) {
  const auto losses = result.loss.as<float>();
  return {.epoch = record.epoch,
          .step = record.step,
          .updates = record.updates,
          .loss = result.mean_loss,
          .losses = {losses.begin(), losses.end()},
          .accuracy = penstock::value_of(record.values, "accuracy"),
          .samples_per_second = record.samples_per_second};
}

/// Opens the images of the run. A terminal shows how far the reading is.
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

/// Returns the number of weight updates of the whole run.
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

}  // namespace

Run::Run(const TrainerOptions& options)
    : options_(options),
      network_(penstock::networks::find_network(options.network.model)),
      model_(make_model(network_, options.network)),
      progress_(options.output.no_progress ? ProgressStream::silent()
                                           : ProgressStream::standard_error(logs(options.output))),
      images_(load_images(options, network_, progress_)),
      training_options_(checked(training_options(options), images_.train->size())),
      training_loader_(images_.train, training_options_, training_loader_options(options)),
      inference_options_(inference_options(options, images_.test->size())),
      test_loader_(images_.test, inference_options_, test_loader_options(options)),
      training_(make_running<penstock::TrainingModel>(
          options.pipeline, model_,
          with_bar(training_options_, progress_, "Compiling for training"),
          scheduled_optimizer(options,
                              run_updates(options.training, training_loader_, training_options_)))),
      inference_(make_running<penstock::InferenceModel>(
          options.pipeline, model_,
          with_bar(inference_options_, progress_, "Compiling for inference"))),
      outputs_(options.output, input_files(options, images_)) {
  if (options.optimizer.init_state) go_on_from(*options.optimizer.init_state);
  for (const std::string& note : idle_options(options)) print_note(note);
  note_dropped(training_loader_, images_.train->size());
  note_report(training_.compile_report());
  note_more(inference_.compile_report(), training_.compile_report());
}

// The count of updates goes on from the number that the optimizer's state has seen. The schedule's
// end therefore moves by that number, and the run begins with a later epoch.
void Run::go_on_from(const std::string& optimizer_state) {
  read_file("--init-optimizer-state", [&] { training_.load_optimizer_state(optimizer_state); });
  first_update_ = training_.updates();
  const auto seen = static_cast<std::int64_t>(first_update_);
  const std::int64_t updates_of_run =
      run_updates(options_.training, training_loader_, training_options_);
  training_.set_optimizer(scheduled_optimizer(options_, seen + updates_of_run));
  const std::string moved = moved_cosine(options_.learning_rate, seen, seen + updates_of_run);
  if (!moved.empty()) print_note(moved);

  const std::int64_t per_epoch = training_loader_.batches() * training_options_.device_iterations;
  const std::int64_t into_epoch = seen % per_epoch;
  training_loader_.skip_epochs(static_cast<std::uint64_t>(seen / per_epoch + (into_epoch > 0)));
  if (into_epoch > 0)
    print_note("--init-optimizer-state: the state is " + std::to_string(into_epoch) + " of " +
               std::to_string(per_epoch) +
               " updates into an epoch: training goes on with the next epoch");
}

void Run::execute(const std::function<void()>& on_first_step) {
  const penstock::History history = train(on_first_step);
  if (options_.output.save_weights)
    check_finite(model_, "--save-weights: expected finite weights after training", remedy);
  const penstock::Evaluation evaluation = evaluate();
  outputs_.add_weights(model_);
  outputs_.add_optimizer_state(training_);
  const RunMetrics run = summary(history, evaluation);
  outputs_.add(run);
  outputs_.commit();
  if (options_.output.profile) write_profiles();
  // The accuracy is printed last: if stdout cannot be written, the files of the finished training
  // are in place nevertheless.
  print("Accuracy on test set: " + percent(run.test_accuracy) + '\n');
}

// A training that is finished is not lost because its profile cannot be written.
void Run::write_profiles() try {
  const RunProfiles profiles{training_.profile(), inference_.profile()};
  outputs_.commit(profiles);
  print_profile(profiles.training);
} catch (const std::exception& error) {
  print_note(std::string("--profile: ") + error.what() + "; there is no new profile");
}

penstock::History Run::train(const std::function<void()>& on_first_step) {
  progress_.write(describe_step(training_options_) + '\n');
  std::optional<Progress> progress;
  penstock::FitCallback callback;
  callback.on_epoch_begin = [&](int epoch, std::int64_t steps) {
    progress.reset();
    progress.emplace(
        progress_,
        "Epoch " + std::to_string(epoch) + '/' + std::to_string(options_.training.epochs), steps);
  };
  std::int64_t step_samples = 0;
  callback.on_step_begin = [&](const penstock::Batch& batch) {
    step_samples = batch.front().shape()[0];
    if (training_.updates() == first_update_) on_first_step();
  };
  callback.on_step_end = [&](const penstock::StepRecord& record,
                             const penstock::StepResult& result) {
    StepMetrics metrics = step_metrics(record, result);
    metrics.samples = step_samples;
    metrics.learning_rate = training_.learning_rate();
    outputs_.add(metrics);
    progress->advance(describe(metrics));
    warn_of_loss(metrics, *progress);
    return penstock::Next::go_on;
  };
  callback.on_epoch_end = [&](const penstock::EpochRecord& epoch) {
    outputs_.add(epoch);
    return penstock::Next::go_on;
  };
  return penstock::fit(training_, training_loader_,
                       {.epochs = options_.training.epochs,
                        .max_updates = options_.training.max_updates,
                        .metrics = {penstock::accuracy(scores)},
                        .callbacks = {callback}});
}

void Run::warn_of_loss(const StepMetrics& step, Progress& progress) {
  if (warned_of_loss_ || std::isfinite(step.loss)) return;
  warned_of_loss_ = true;
  progress.make_room();
  print_note("the loss is not finite since epoch " + std::to_string(step.epoch) + ", step " +
             std::to_string(step.step) + remedy);
}

penstock::Evaluation Run::evaluate() {
  Progress progress(progress_, "Test", test_loader_.batches());
  return penstock::evaluate(inference_, test_loader_, {penstock::accuracy(scores)},
                            [&] { progress.advance(""); });
}

RunMetrics Run::summary(const penstock::History& history,
                        const penstock::Evaluation& evaluation) const {
  RunMetrics run;
  for (const penstock::CompileReport& report :
       {training_.compile_report(), inference_.compile_report()}) {
    run.compile_seconds += report.seconds;
    run.plans_from_cache += report.from_cache ? 1 : 0;
  }
  run.train_samples_per_second = history.samples_per_second;
  run.train_waited_seconds = history.waited_seconds;
  run.inference_samples_per_second = evaluation.samples_per_second;
  run.test_accuracy = penstock::value_of(evaluation.values, "accuracy");
  run.peak_rss_bytes = peak_resident_bytes();
  run.stages = training_.stage_reports();
  return run;
}

}  // namespace trainer
