// The training loop: epochs, steps, and where to stop. Knows the model only as a function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "apps/trainer/output/metrics.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/training_model.hpp"

namespace trainer {

struct TrainingPlan {
  int epochs = 1;
  std::optional<std::int64_t> max_updates = {};
  std::int64_t samples_per_update = 1;  ///< b·G·R
  std::int64_t samples_per_step = 1;    ///< the most that a step takes: b·D·G·R

  /// Steps of an epoch that begins after `updates`, if the loader has `batches` for it.
  std::int64_t steps(std::int64_t batches, std::int64_t updates) const;
};

struct TrainingEvents {
  std::function<void(int epoch, std::int64_t steps)> on_epoch;
  std::function<void(const StepMetrics&)> on_step;
};

/// Trains on a batch of {images, labels}; its rows are a multiple of `samples_per_update`.
using TrainingStep = std::function<penstock::StepResult(const penstock::Batch&)>;

/// Steps through the loader's epochs; the last step is shortened so that there are never more than
/// `max_updates`. Accuracies are those of output `scores`.
/// @returns samples trained per second, from the first step's call to the last one's return.
double train(penstock::DataLoader& loader, const TrainingPlan& plan, const std::string& scores,
             const TrainingStep& step, const TrainingEvents& events);

}  // namespace trainer
