#include "apps/trainer/output/outputs.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace trainer {
namespace {

std::string profile_directory(const OutputOptions& options, const char* part) {
  return (std::filesystem::path(options.profile_dir) / part).string();
}

std::vector<RunFile> output_files(const OutputOptions& options) {
  std::vector<RunFile> files;
  if (options.metrics) files.push_back({"--metrics", *options.metrics});
  if (options.save_weights) files.push_back({"--save-weights", *options.save_weights});
  if (options.save_optimizer_state)
    files.push_back({"--save-optimizer-state", *options.save_optimizer_state});
  if (!options.profile) return files;
  for (const char* part : {"training", "inference"})
    for (const std::string& path :
         penstock::ProfileFiles::paths_in(profile_directory(options, part)))
      files.push_back({"--profile-dir", path});
  return files;
}

}  // namespace

Outputs::Outputs(const OutputOptions& options, std::span<const RunFile> inputs) {
  check_distinct(output_files(options), inputs);
  if (options.metrics) metrics_.emplace(*options.metrics);
  if (options.save_weights) weights_.emplace(*options.save_weights);
  if (options.save_optimizer_state) optimizer_state_.emplace(*options.save_optimizer_state);
  if (!options.profile) return;
  training_profile_.emplace(profile_directory(options, "training"));
  inference_profile_.emplace(profile_directory(options, "inference"));
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

void Outputs::add(const RunProfiles& profiles) {
  if (training_profile_) training_profile_->write(profiles.training);
  if (inference_profile_) inference_profile_->write(profiles.inference);
}

void Outputs::commit() {
  const auto each = [this](const auto& action) {
    for (File* file : {&metrics_, &weights_, &optimizer_state_})
      if (*file) action(**file);
    for (auto* profile : {&training_profile_, &inference_profile_})
      if (*profile) action(**profile);
  };
  each([](auto& file) { file.sync(); });
  each([](auto& file) { file.commit(); });
}

}  // namespace trainer
