// Outputs are all files that a run writes. They are opened before the first step, so that none is
// refused after hours of training. At the end they replace the older files of their names, one
// after the other, once all of them are on disk. The numbers for TensorBoard and Prometheus are
// available while the run goes on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/trainer/options/options.hpp"
#include "apps/trainer/output/event_file.hpp"
#include "apps/trainer/output/http_server.hpp"
#include "apps/trainer/output/live_metrics.hpp"
#include "apps/trainer/output/metrics.hpp"
#include "apps/trainer/output/run_files.hpp"
#include "penstock/fit.hpp"
#include "penstock/model.hpp"
#include "penstock/output_file.hpp"
#include "penstock/profile.hpp"
#include "penstock/training_model.hpp"

namespace trainer {

/// RunProfiles are the profiles of a run.
struct RunProfiles {
  penstock::Profile training, inference;
};

/// Returns the files that `options` ask for, but for those of profiles, with their options.
std::vector<RunFile> result_files(const OutputOptions& options);

class Outputs {
 public:
  /// Opens the outputs that `options` ask for, and creates the profile's directories. If
  /// `keeps_lines` is true, lines() returns the lines of the steps.
  /// @throws penstock::Error io_error that names the file that cannot be opened, and what
  /// check_distinct() and the constructor of HttpServer throw.
  Outputs(const OutputOptions& options, std::span<const RunFile> inputs, bool keeps_lines = false);

  /// Adds the numbers of a step. If the file for TensorBoard cannot be written, here or in another
  /// function of this class, a note says so, and no more numbers are written to it from then on.
  void add(const StepMetrics& step);
  /// Returns the lines that all steps so far have in the metrics file. They are kept if the run
  /// keeps checkpoints.
  const std::string& lines() const noexcept { return lines_; }
  /// Begins the metrics file with `lines`, those of an earlier run that this one goes on from.
  void go_on_from(std::string lines);
  /// Adds the numbers of an epoch, in which the IPUs were idle for the share `idle` of the time.
  void add(const penstock::EpochRecord& epoch, double idle);
  void add(const RunMetrics& run);
  /// Writes the trained weights, and the network in the ONNX format with the texts `metadata`.
  void add_weights(const penstock::Model& model,
                   const std::map<std::string, std::string>& metadata);
  void add_optimizer_state(const penstock::TrainingModel& training);

  /// Puts the files that result_files() returns in place. @throws penstock::Error io_error. If one
  /// file could not be written to the disk, no file is in place; if one could not be renamed, only
  /// the files before it are.
  void commit();
  /// Puts the files of the profiles in place, which are apart from all others.
  /// @throws penstock::Error io_error
  void commit(const RunProfiles& profiles);

 private:
  using File = std::optional<penstock::OutputFile>;

  void serve_metrics(std::uint16_t port);
  void write_events(const std::vector<Scalar>& scalars);

  File metrics_, weights_, onnx_, optimizer_state_;
  std::optional<penstock::ProfileFiles> training_profile_, inference_profile_;
  std::optional<EventFile> events_;
  bool keeps_lines_ = false;
  std::string lines_;
  std::uint64_t updates_ = 0;  // The run has done this many weight updates so far.
  LiveMetrics live_;
  std::optional<HttpServer> server_;  // The server reads `live_`.
};

}  // namespace trainer
