// These functions convert a data loader's datasets and options to the form that its actors take.
#pragma once

#include <cstdint>
#include <memory>

#include "actors/loader/loader_runtime.hpp"
#include "engine/loader/epoch_plans.hpp"
#include "penstock/data_loader.hpp"

namespace penstock {

actors::LoaderSource source_of(std::shared_ptr<const Dataset> dataset);
/// Returns a source in which `workers` workers share the dataset.
actors::StreamSource source_of(std::shared_ptr<const IterableDataset> dataset, int workers);

/// Returns the settings of a loader whose batches have `rows` samples and whose epochs have the
/// size `size`.
actors::LoaderSettings loader_settings(std::int64_t rows, const EpochSize& size,
                                       const DataLoaderOptions& options);
actors::StreamSettings stream_settings(std::int64_t rows, const DataLoaderOptions& options);
actors::LoaderLimits loader_limits(const DataLoaderOptions& options);

}  // namespace penstock
