// These functions make the engine's options from TrainerOptions and from the environment variable
// PENSTOCK_LOG_LEVEL. They read nothing else and change nothing.
#pragma once

#include <cstdint>

#include "apps/trainer/options/options.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/learning_rate_schedule.hpp"
#include "penstock/options.hpp"

namespace trainer {

/// Returns whether the engine writes lines to stderr.
bool logs(const OutputOptions& options);

/// Returns the options of the training model. If the run has fewer updates than a step would have,
/// the steps of the run are shortened.
penstock::Options training_options(const TrainerOptions& options);

/// Returns the options of the inference model. The inference model has the same stages on the same
/// IPUs as the training model. A call has as many micro-batches per replica as a training step, or
/// fewer if fewer are enough for `test_samples` samples.
penstock::Options inference_options(const TrainerOptions& options, std::int64_t test_samples);

/// Returns how the learning rate changes in a run that ends with weight update number `updates`,
/// counted from 1.
penstock::LearningRateSchedule make_schedule(const LearningRateOptions& options,
                                             std::int64_t updates);

penstock::DataLoaderOptions training_loader_options(const TrainerOptions& options);
penstock::DataLoaderOptions test_loader_options(const TrainerOptions& options);

}  // namespace trainer
