#include "apps/trainer/outputs.hpp"

#include <filesystem>

#include "penstock/error.hpp"

namespace trainer {
namespace {

namespace fs = std::filesystem;

/// DIR/part/trace.json, in a directory that is there.
fs::path trace_path(const std::string& directory, const char* part) {
  const fs::path parent = fs::path(directory) / part;
  std::error_code error;
  fs::create_directories(parent, error);
  if (error)
    throw penstock::Error(penstock::Errc::io_error, "cannot create the directory \"" +
                                                        parent.string() + "\": " + error.message());
  return parent / "trace.json";
}

}  // namespace

Outputs::Outputs(const OutputOptions& options) {
  if (options.metrics) metrics_.emplace(*options.metrics);
  if (options.save_weights) weights_.emplace(*options.save_weights);
  if (!options.profile) return;
  training_trace_.emplace(trace_path(options.profile_dir, "training"));
  inference_trace_.emplace(trace_path(options.profile_dir, "inference"));
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

void Outputs::add_traces(std::span<const penstock::TraceEvent> training,
                         std::span<const penstock::TraceEvent> inference) {
  if (training_trace_) penstock::write_chrome_trace(*training_trace_, training);
  if (inference_trace_) penstock::write_chrome_trace(*inference_trace_, inference);
}

void Outputs::commit() {
  for (File* file : {&metrics_, &weights_, &training_trace_, &inference_trace_})
    if (*file) (*file)->commit();
}

}  // namespace trainer
