// A Run is one run of the trainer, from its options to its files. The constructor refuses
// everything that can be refused before the first step. One thread uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "apps/trainer/checkpoints.hpp"
#include "apps/trainer/onnx_network.hpp"
#include "apps/trainer/options/options.hpp"
#include "apps/trainer/output/metrics.hpp"
#include "apps/trainer/output/outputs.hpp"
#include "apps/trainer/output/progress.hpp"
#include "apps/trainer/task.hpp"
#include "penstock/penstock.hpp"

namespace trainer {

class Run {
 public:
  /// Reads and checks every input, compiles the network for training and for inference, and opens
  /// every output.
  /// @throws penstock::Error if the run is refused.
  explicit Run(const TrainerOptions& options) : Run(options, open_onnx_network(options)) {}

  /// Trains, tests, puts the files in place and prints the accuracy, or the loss and the text of a
  /// language model. `on_first_step` is called right before the first step. SIGINT or SIGTERM ends
  /// the training after the update that is under way, and no file is replaced then; a run that
  /// keeps checkpoints ends after the step that is under way, with a checkpoint. In the test, the
  /// signal ends the test, and the files of the training are put in place. Returns the number of
  /// that signal, or 0 if none came.
  /// @throws penstock::Error, for example if weights that are to be saved are not finite. After an
  /// error, no file has been replaced, with three exceptions: if the test has failed, the files of
  /// the training are in place; if Outputs::commit() could not rename a file, those before it are;
  /// and if the result could not be printed, all are.
  int execute(const std::function<void()>& on_first_step);

 private:
  /// Does what the other constructor does, with the network of --onnx, if there is one.
  Run(const TrainerOptions& options, const std::optional<OnnxNetwork>& imported);
  void go_on_from(const std::string& optimizer_state);
  void note_continuation(const penstock::Checkpoint& checkpoint) const;
  /// Returns how many updates the run has in all, those before it went on included.
  std::int64_t updates() const;
  /// Returns the optimizer of a run that began after `first_update_` updates.
  penstock::Optimizer optimizer() const;
  /// Returns a callback that keeps the state of the run in each checkpoint.
  penstock::FitCallback state_callback();
  penstock::History train(const std::function<void()>& on_first_step, std::stop_token stop);
  /// A TestOutcome has either a result or what has failed, or neither if the test was stopped.
  struct TestOutcome {
    std::optional<penstock::Evaluation> evaluation = {};
    std::optional<penstock::Error> failure = {};
  };
  /// Tests the trained network. `stop` ends the test.
  TestOutcome test(std::stop_token stop);
  /// Adds to `profile` what the readers of `loader` did and how the run waited for them.
  static void add_events(penstock::Profile& profile, penstock::DataLoader& loader);
  void write_profiles();
  /// Prints what the run has come to and, if it is asked for, a text of the language model.
  void print_result(const RunMetrics& run);
  /// Returns the share of the time of the IPUs in which they were idle since the last call of this
  /// function, which was `seconds` ago, or since the beginning.
  double idle_share(double seconds);
  void warn_of_loss(const StepMetrics& step, Progress& progress);
  RunMetrics summary(const penstock::History& history,
                     const penstock::Evaluation& evaluation) const;

  RunCheckpoints checkpoints_;
  TrainerOptions options_;
  ProgressStream progress_;
  Task task_;
  penstock::Options training_options_;
  penstock::DataLoader training_loader_;
  penstock::Options inference_options_;
  penstock::DataLoader test_loader_;
  // The optimizer's state had seen this many updates when the run began.
  std::uint64_t first_update_ = 0;
  penstock::TrainingModel training_;
  penstock::InferenceModel inference_;
  Outputs outputs_;
  bool first_step_begun_ = false;
  bool warned_of_loss_ = false;
  // All stages together had been busy for this time at the last call of idle_share().
  double busy_seconds_ = 0;
};

}  // namespace trainer
