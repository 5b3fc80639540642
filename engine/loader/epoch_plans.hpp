// Epoch plans say how an epoch's samples are divided into batches, either by their number alone or
// as a sampler of the host's says. The functions are pure, except for what a sampler does.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/loader/loader_order.hpp"
#include "penstock/data_loader.hpp"

namespace penstock {

/// An EpochSize says how many samples and batches an epoch has.
struct EpochSize {
  std::int64_t used = 0;  ///< The batches of each partition have this many samples.
  std::int64_t batches = 0;
  std::int64_t dropped = 0;  ///< This many samples are in no batch of any partition.
  /// `short_rows` is the number of samples in the last batch, or 0 if the last batch is full.
  std::int64_t short_rows = 0;
};

/// Returns the size of an epoch of `samples` samples in batches of `rows` samples.
EpochSize epoch_size(std::int64_t samples, std::int64_t rows, const DataLoaderOptions& options);

/// Returns the plan that `options.sampler` makes of an epoch, in batches of `rows`.
/// @throws Error invalid_data for a sample that is not one of the dataset's `samples` samples;
/// whatever the sampler throws.
actors::EpochPlan sampled_plan(const DataLoaderOptions& options, std::int64_t rows,
                               std::int64_t samples, std::uint64_t epoch);

/// Returns a plan that joins each `concatenated` consecutive batches of the sampler into one. If
/// fewer of them are left at the end, their samples are in the plan's order, but in no batch.
/// @throws Error invalid_data for a sample that is not one of the dataset's `samples` samples, or
/// for an empty batch; whatever the sampler throws.
actors::EpochPlan batch_sampled_plan(const BatchSampler& sampler, std::int64_t concatenated,
                                     std::int64_t samples, std::uint64_t epoch);

}  // namespace penstock
