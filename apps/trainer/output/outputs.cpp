#include "apps/trainer/output/outputs.hpp"

#include <filesystem>
#include <vector>

#include "penstock/chrome_trace.hpp"
#include "penstock/error.hpp"

namespace trainer {
namespace {

namespace fs = std::filesystem;

fs::path trace_path(const OutputOptions& options, const char* part) {
  return fs::path(options.profile_dir) / part / "trace.json";
}

/// Returns `file`, after making the directory that it is to be in.
const fs::path& with_directory(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error)
    throw penstock::Error(
        penstock::Errc::io_error,
        "cannot create the directory \"" + file.parent_path().string() + "\": " + error.message());
  return file;
}

std::vector<RunFile> output_files(const OutputOptions& options) {
  std::vector<RunFile> files;
  if (options.metrics) files.push_back({"--metrics", *options.metrics});
  if (options.save_weights) files.push_back({"--save-weights", *options.save_weights});
  if (options.save_optimizer_state)
    files.push_back({"--save-optimizer-state", *options.save_optimizer_state});
  if (!options.profile) return files;
  for (const char* part : {"training", "inference"})
    files.push_back({"--profile-dir", trace_path(options, part)});
  return files;
}

}  // namespace

Outputs::Outputs(const OutputOptions& options, std::span<const RunFile> inputs) {
  check_distinct(output_files(options), inputs);
  if (options.metrics) metrics_.emplace(*options.metrics);
  if (options.save_weights) weights_.emplace(*options.save_weights);
  if (options.save_optimizer_state) optimizer_state_.emplace(*options.save_optimizer_state);
  if (!options.profile) return;
  training_trace_.emplace(with_directory(trace_path(options, "training")));
  inference_trace_.emplace(with_directory(trace_path(options, "inference")));
}

void Outputs::add(const StepMetrics& step) {
  if (metrics_) metrics_->write(to_json(step) + '\n');
}

void Outputs::add(const RunMetrics& run) {
  if (metrics_) metrics_->write(to_json(run) + '\n');
}

void Outputs::add_weights(const penstock::Model& model) {
  if (weights_) model.save_weights(*weights_);
}

void Outputs::add_optimizer_state(const penstock::TrainingModel& training) {
  if (optimizer_state_) training.save_optimizer_state(*optimizer_state_);
}

void Outputs::add_traces(penstock::TrainingModel& training, penstock::InferenceModel& inference) {
  const auto write = [](File& file, auto& model) {
    if (!file) return;
    const std::vector<penstock::TraceEvent> events = model.take_trace();
    penstock::write_chrome_trace(*file, events, model.dropped_events());
  };
  write(training_trace_, training);
  write(inference_trace_, inference);
}

void Outputs::commit() {
  const std::initializer_list<File*> files = {&metrics_, &weights_, &optimizer_state_,
                                              &training_trace_, &inference_trace_};
  for (File* file : files)
    if (*file) (*file)->sync();
  for (File* file : files)
    if (*file) (*file)->commit();
}

}  // namespace trainer
