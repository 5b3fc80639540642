// A Run is one run of the trainer, from its options to its files. The constructor refuses
// everything that can be refused before the first step. One thread uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/networks/networks.hpp"
#include "apps/trainer/images.hpp"
#include "apps/trainer/options/options.hpp"
#include "apps/trainer/output/metrics.hpp"
#include "apps/trainer/output/outputs.hpp"
#include "apps/trainer/output/progress.hpp"
#include "penstock/penstock.hpp"

namespace trainer {

class Run {
 public:
  /// Reads and checks every input, compiles both models, and opens every output.
  /// @throws penstock::Error if the run is refused.
  explicit Run(const TrainerOptions& options);

  /// Trains, tests, puts the files in place and prints the accuracy. `on_first_step` is called
  /// right before the first step. @throws penstock::Error, for example if weights that are to be
  /// saved are not finite. No file has been replaced after an error, unless Outputs::commit()
  /// failed to rename a file or the accuracy could not be printed.
  void execute(const std::function<void()>& on_first_step);

 private:
  void go_on_from(const std::string& optimizer_state);
  penstock::History train(const std::function<void()>& on_first_step);
  penstock::Evaluation evaluate();
  void write_profiles();
  void warn_of_loss(const StepMetrics& step, Progress& progress);
  RunMetrics summary(const penstock::History& history,
                     const penstock::Evaluation& evaluation) const;

  TrainerOptions options_;
  const penstock::networks::Network& network_;
  penstock::Model model_;
  ProgressStream progress_;
  Images images_;
  penstock::Options training_options_;
  penstock::DataLoader training_loader_;
  penstock::Options inference_options_;
  penstock::DataLoader test_loader_;
  penstock::TrainingModel training_;
  penstock::InferenceModel inference_;
  Outputs outputs_;
  // Is the number of updates that the optimizer's state had seen when the run began.
  std::uint64_t first_update_ = 0;
  bool warned_of_loss_ = false;
};

}  // namespace trainer
