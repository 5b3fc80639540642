#include "apps/trainer/output/outputs.hpp"

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/trainer/output/console.hpp"
#include "penstock/error.hpp"
#include "penstock/onnx.hpp"

namespace trainer {
namespace {

std::string profile_directory(const OutputOptions& options, const char* part) {
  return (std::filesystem::path(options.profile_dir) / part).string();
}

std::vector<RunFile> output_files(const OutputOptions& options) {
  std::vector<RunFile> files = result_files(options);
  if (!options.profile) return files;
  for (const char* part : {"training", "inference"})
    for (const std::string& path :
         penstock::ProfileFiles::paths_in(profile_directory(options, part)))
      files.push_back({"--profile-dir", path});
  return files;
}

/// Puts those of `files` in place that are there, once all of them are on the disk.
template <class File>
void put_in_place(std::initializer_list<std::optional<File>*> files) {
  for (std::optional<File>* file : files)
    if (*file) (*file)->sync();
  for (std::optional<File>* file : files)
    if (*file) (*file)->commit();
}

/// Adds the scalar `name` to `scalars`, if it has a value.
void add_if_there(std::vector<Scalar>& scalars, const char* name,
                  const std::optional<double>& value) {
  if (value) scalars.push_back({name, *value});
}

}  // namespace

std::vector<RunFile> result_files(const OutputOptions& options) {
  std::vector<RunFile> files;
  if (options.metrics) files.push_back({"--metrics", *options.metrics});
  if (options.save_weights) files.push_back({"--save-weights", *options.save_weights});
  if (options.save_onnx) files.push_back({"--save-onnx", *options.save_onnx});
  if (options.save_optimizer_state)
    files.push_back({"--save-optimizer-state", *options.save_optimizer_state});
  return files;
}

Outputs::Outputs(const OutputOptions& options, std::span<const RunFile> inputs, bool keeps_lines)
    : keeps_lines_(keeps_lines) {
  check_distinct(output_files(options), inputs);
  if (options.metrics) metrics_.emplace(*options.metrics);
  if (options.tensorboard) events_.emplace(*options.tensorboard);
  if (options.metrics_port) serve_metrics(static_cast<std::uint16_t>(*options.metrics_port));
  if (options.save_weights) weights_.emplace(*options.save_weights);
  if (options.save_onnx) onnx_.emplace(*options.save_onnx);
  if (options.save_optimizer_state) optimizer_state_.emplace(*options.save_optimizer_state);
  if (!options.profile) return;
  training_profile_.emplace(profile_directory(options, "training"));
  inference_profile_.emplace(profile_directory(options, "inference"));
}

void Outputs::serve_metrics(std::uint16_t port) {
  constexpr const char* path = "/metrics";
  server_.emplace(port, path, [this] { return live_.page(); });
  if (port == 0)
    print_note("--metrics-port: http://127.0.0.1:" + std::to_string(server_->port()) + path);
}

void Outputs::add(const StepMetrics& step) {
  const std::string line = to_json(step) + '\n';
  if (metrics_) metrics_->write(line);
  if (keeps_lines_) lines_ += line;
  live_.note(step);
  updates_ = step.updates;
  std::vector<Scalar> scalars{{"train/loss", step.loss},
                              {"train/learning_rate", step.learning_rate},
                              {"train/samples_per_second", step.samples_per_second}};
  add_if_there(scalars, "train/accuracy", step.accuracy);
  write_events(scalars);
}

void Outputs::go_on_from(std::string lines) {
  lines_ = std::move(lines);
  if (metrics_) metrics_->write(lines_);
}

void Outputs::add(const penstock::EpochRecord& epoch, double idle) {
  std::vector<Scalar> scalars{{"epoch/loss", penstock::value_of(epoch.values, "loss")},
                              {"epoch/seconds", epoch.seconds},
                              {"epoch/idle", idle}};
  add_if_there(scalars, "epoch/accuracy", find_value(epoch.values, "accuracy"));
  write_events(scalars);
}

void Outputs::add(const RunMetrics& run) {
  if (metrics_) metrics_->write(to_json(run) + '\n');
  live_.note(run);
  std::vector<Scalar> scalars;
  add_if_there(scalars, "test/accuracy", run.test_accuracy);
  add_if_there(scalars, "validation/loss", run.validation_loss);
  write_events(scalars);
}

void Outputs::write_events(const std::vector<Scalar>& scalars) try {
  if (events_) events_->write(static_cast<std::int64_t>(updates_), scalars);
} catch (const penstock::Error& error) {
  events_.reset();
  print_note(std::string(error.what()) + "; the run goes on without it");
}

void Outputs::add_weights(const penstock::Model& model,
                          const std::map<std::string, std::string>& metadata) {
  if (weights_) model.save_weights(*weights_);
  if (onnx_) model.save_onnx(*onnx_, {.metadata = metadata});
}

void Outputs::add_optimizer_state(const penstock::TrainingModel& training) {
  if (optimizer_state_) training.save_optimizer_state(*optimizer_state_);
}

void Outputs::commit(const RunProfiles& profiles) {
  if (training_profile_) training_profile_->write(profiles.training);
  if (inference_profile_) inference_profile_->write(profiles.inference);
  put_in_place({&training_profile_, &inference_profile_});
  write_events({{"profile/bubble", profiles.training.bubble.measured}});
}

void Outputs::commit() {
  put_in_place({&metrics_, &weights_, &onnx_, &optimizer_state_});
}

}  // namespace trainer
