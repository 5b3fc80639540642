// These functions make datasets of other datasets: parts of one, one of several, one whose samples
// a function of the host's makes, and streams in a random order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "penstock/dataset.hpp"
#include "penstock/iterable_dataset.hpp"

namespace penstock {

/// A PartOrder says which samples go into which part of a divided dataset.
struct PartOrder {
  /// `shuffle` says whether the samples are divided in a random order. Otherwise the first part has
  /// the first samples, and so on.
  bool shuffle = true;
  /// The random order depends on this seed and the number of samples alone. It has nothing to do
  /// with the order in which a DataLoader of the same seed visits samples.
  std::uint64_t seed = 0;
};

/// Divides `dataset` into parts, of which part i has `counts`[i] samples. No sample is in two
/// parts, and each is in one. A part takes 8 bytes of memory for each of its samples if they are
/// shuffled.
/// @throws Error invalid_argument if there is no dataset, or if a count is negative; invalid_data
/// if the counts do not add up to the number of samples; out_of_memory; what the dataset throws.
std::vector<std::shared_ptr<const Dataset>> split_by_counts(std::shared_ptr<const Dataset> dataset,
                                                            const std::vector<std::int64_t>& counts,
                                                            const PartOrder& order = {});

/// Divides `dataset` as split_by_counts() does. Part i has `fractions`[i] of all samples, rounded
/// down, and the samples that are left over go to the first parts, one to each, as PyTorch's
/// random_split() does it.
/// @throws Error as split_by_counts(); invalid_argument if a fraction is not 0 to 1, or if the
/// fractions do not add up to 1, give or take a millionth.
std::vector<std::shared_ptr<const Dataset>> split_by_fractions(
    std::shared_ptr<const Dataset> dataset, const std::vector<double>& fractions,
    const PartOrder& order = {});

/// Returns a dataset of the samples of all `datasets`, one dataset behind the other. Its fields are
/// those of the first one.
/// @throws Error invalid_argument if there are no datasets, or if one of them is null;
/// shape_mismatch if their fields are not the same; invalid_data if they have more than 2^62
/// samples; out_of_memory; what a dataset throws.
std::shared_ptr<const Dataset> concat_datasets(
    std::vector<std::shared_ptr<const Dataset>> datasets);

/// A SampleFunction makes a sample of another one, of which it gets a tensor for each field. The
/// request says which sample of which epoch it is: random numbers that depend on these alone are
/// the same whatever the number of workers. Several threads of a loader call the function at once.
using SampleFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& sample,
                                                         const SampleRequest& request)>;

/// Returns a dataset whose samples `function` makes of those of `dataset`, while they are read, in
/// the thread that reads. `fields` says what the function returns: a tensor for each field. If it
/// returns something else, the read fails with Error shape_mismatch.
/// @throws Error invalid_argument if there is no dataset, no field or no function; out_of_memory;
/// what the dataset throws.
std::shared_ptr<const Dataset> map_dataset(std::shared_ptr<const Dataset> dataset,
                                           std::vector<Field> fields, SampleFunction function);

/// A ShuffleBuffer has the options of shuffle_stream().
struct ShuffleBuffer {
  /// Each worker keeps this many samples ready, of which one is drawn at a time.
  std::int64_t samples = 1024;
  std::uint64_t seed = 0;  ///< What is drawn depends on this seed.
};

/// Returns a dataset that gives the samples of `dataset` in a random order. Each worker fills a
/// buffer with samples of its stream, gives one that is drawn from the buffer, and takes the next
/// one of the stream into its place. The order depends on the seed, the epoch and the number of
/// the worker alone, and a sample can come early by fewer places than the buffer has.
/// @throws Error invalid_argument if there is no dataset, or if the buffer has no sample;
/// out_of_memory; what the dataset throws.
std::shared_ptr<const IterableDataset> shuffle_stream(
    std::shared_ptr<const IterableDataset> dataset, const ShuffleBuffer& buffer = {});

}  // namespace penstock
