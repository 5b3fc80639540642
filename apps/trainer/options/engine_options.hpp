// These functions make TrainerOptions, and PENSTOCK_LOG_LEVEL in the environment, into what the
// engine takes. Apart from the environment they are pure.
#pragma once

#include <cstdint>

#include "apps/trainer/options/options.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/learning_rate_schedule.hpp"
#include "penstock/options.hpp"

namespace trainer {

/// Returns whether the engine writes lines to stderr.
bool logs(const OutputOptions& options);

/// Returns how the training model is run. A run of fewer updates than a step has gets shorter
/// steps.
penstock::Options training_options(const TrainerOptions& options);

/// Returns how the inference model is run: with the same stages on the same IPUs, and as many
/// micro-batches per call as a training step has per replica, but never more samples than
/// `test_samples` ask for.
penstock::Options inference_options(const TrainerOptions& options, std::int64_t test_samples);

/// Returns how the learning rate changes in a run that ends with weight update number `updates`,
/// counted from 1.
penstock::LearningRateSchedule make_schedule(const LearningRateOptions& options,
                                             std::int64_t updates);

penstock::DataLoaderOptions training_loader_options(const TrainerOptions& options);
penstock::DataLoaderOptions test_loader_options(const TrainerOptions& options);

}  // namespace trainer
