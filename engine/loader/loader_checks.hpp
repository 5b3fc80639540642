// These checks find what a data loader refuses before anything is read. They are pure, except that
// some of them call functions of the dataset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/values/out_of_memory.hpp"
#include "penstock/data_loader.hpp"
#include "penstock/error.hpp"

namespace penstock {

[[noreturn]] void refuse_empty_dataset();

/// Returns how many samples the dataset says it has, or nothing if it does not say. @throws Error
/// invalid_argument if there is no dataset, invalid_data if it is empty.
template <class AnyDataset>
std::optional<std::int64_t> checked_size(const std::shared_ptr<const AnyDataset>& dataset) {
  if (!dataset) throw Error(Errc::invalid_argument, "data loader: expected a dataset, got none");
  const std::optional<std::int64_t> size =
      call_host([&]() -> std::optional<std::int64_t> { return dataset->size(); });
  if (size && *size <= 0) refuse_empty_dataset();
  return size;
}

/// Returns the fields that the dataset says its samples have.
std::vector<Field> fields_of(const auto& dataset) {
  return call_host([&]() -> std::vector<Field> { return dataset.fields(); });
}

/// Checks that there are fields, because the number of samples in a batch is read from its fields.
/// @throws Error invalid_data if there are none.
void check_fields(const std::vector<Field>& fields);

/// Checks how many samples a batch has. @throws Error invalid_argument
void check_rows(std::int64_t rows);
/// Checks how many batches of a sampler make one batch. @throws Error invalid_argument
void check_concatenated(std::int64_t count);
/// Checks the numbers of threads and batches and the times. @throws Error invalid_argument
void check_threads(const DataLoaderOptions& options);
/// Checks the options that decide on the order of the samples. @throws Error invalid_argument
void check_order(const DataLoaderOptions& options);
/// Checks that the options say nothing about the order of the samples. @throws Error
/// invalid_argument, whose text gives `why` as the reason, if they do.
void check_no_order(const DataLoaderOptions& options, const std::string& why);
/// Checks that `option` is not set. @throws Error invalid_argument, whose text gives `why` as the
/// reason, if it is.
void expect_none(bool is_set, const std::string& option, const std::string& why);

/// Checks the numbers of the samples that a sampler has returned. @throws Error invalid_data if a
/// number is not from 0 to `samples` - 1.
void check_samples(const std::vector<std::int64_t>& order, std::int64_t samples);

/// Checks that a loader whose next epoch is number `next_epoch` can go to the epoch of `position`.
/// @throws Error invalid_argument if that epoch has begun or was left out, or if the number of
/// batches is negative.
void check_epoch(const LoaderPosition& position, std::uint64_t next_epoch);
/// Checks that `position` is inside its epoch, which has `batches` batches. @throws Error
/// invalid_argument if it is not.
void check_batches(const LoaderPosition& position, std::int64_t batches);

/// Checks that `rows` samples of each field fit into a tensor. @throws Error invalid_argument if
/// they do not.
void check_batch(const std::vector<Field>& fields, std::int64_t rows);

/// Returns the end of a refusal's text, which says how the size of a step of `model` is computed,
/// and which options to change.
std::string origin_of_rows(const Options& model);

}  // namespace penstock
