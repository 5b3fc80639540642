// RunCheckpoints are the checkpoints of a run: those that it saves, and the one from which it goes
// on. They keep the directory of the run locked. One thread uses them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/trainer/options/options.hpp"
#include "penstock/checkpoint.hpp"
#include "penstock/fit.hpp"

namespace trainer {

/// A RunState is what a checkpoint has of the run itself, beside the training.
struct RunState {
  std::string options = {};  ///< `options` is configuration_text() of the run's options.
  /// The optimizer's state had seen this many updates when the run began.
  std::uint64_t first_update = 0;
  std::string lines = {};  ///< `lines` are the metrics file's lines of the steps so far.
  /// `onnx_sha256` is the SHA-256 of the file of --onnx, without the files of weights that it may
  /// name. It is empty if the run has no such file. Checkpoints of earlier versions lack it.
  std::string onnx_sha256 = {};
};

/// `run_state_name` is the name of a RunState in a checkpoint.
inline constexpr const char* run_state_name = "penstock-train";

penstock::SavedState saved(const RunState& state);
/// Returns the state of which saved() has made `state`. @throws penstock::Error invalid_data if
/// `state` is something else.
RunState run_state(const penstock::SavedState& state);

class RunCheckpoints {
 public:
  /// Opens the directory, if `options` name one, and finds the checkpoint from which the run goes
  /// on. `onnx_sha256` is the SHA-256 of the file of --onnx, or empty if there is none. Notes say
  /// which damaged files were passed over, and that a run begins because there is no checkpoint
  /// yet.
  /// @throws penstock::Error as penstock::CheckpointDirectory; invalid_argument if the directory
  /// has checkpoints and the run is not to go on from them, or if options on which the weights
  /// depend, or the network of --onnx, are others than those of the checkpoint; corrupt_file if no
  /// file is whole.
  RunCheckpoints(const TrainerOptions& options, std::string onnx_sha256);

  /// Returns whether the run saves checkpoints.
  bool is_on() const noexcept { return directory_ != nullptr; }
  /// Returns the checkpoint from which the run goes on, or nothing if it begins.
  const std::optional<penstock::Checkpoint>& checkpoint() const noexcept { return resumed_; }
  /// Returns the state of the run that this run goes on from.
  const RunState& resumed() const noexcept { return state_; }
  /// Returns the SHA-256 of the file of --onnx, or an empty text if the run has none or saves no
  /// checkpoints.
  const std::string& onnx_sha256() const noexcept { return onnx_sha256_; }
  /// Returns after how many updates of the model the newest checkpoint was made from which a run
  /// can go on, or nothing if there is none.
  std::optional<std::uint64_t> newest() const noexcept { return newest_; }
  /// Returns `options` without the files that a run only begins with, if this run goes on.
  TrainerOptions without_beginnings(TrainerOptions options) const;
  /// Returns what fit() is told of the checkpoints. The object has to live as long as fit().
  penstock::FitCheckpoints for_fit();
  /// Waits until the last checkpoint is on the disk. @throws penstock::Error as
  /// penstock::CheckpointDirectory::wait().
  void wait();

 private:
  void find_newest(const TrainerOptions& options);

  CheckpointOptions options_;
  std::unique_ptr<penstock::CheckpointDirectory> directory_;
  std::optional<penstock::Checkpoint> resumed_;
  RunState state_;
  std::string onnx_sha256_;
  std::optional<std::uint64_t> newest_;
};

}  // namespace trainer
