// These checks find what a data loader refuses before anything is read. They are pure, but for what
// a dataset says of itself.
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

/// Returns how many samples the dataset says it has. @throws Error invalid_argument if there is no
/// dataset, invalid_data if it is empty.
template <class AnyDataset>
std::optional<std::int64_t> checked_size(const std::shared_ptr<const AnyDataset>& dataset) {
  if (!dataset) throw Error(Errc::invalid_argument, "data loader: expected a dataset, got none");
  const std::optional<std::int64_t> size =
      call_host([&]() -> std::optional<std::int64_t> { return dataset->size(); });
  if (size && *size <= 0) refuse_empty_dataset();
  return size;
}

/// Returns what the dataset says of its fields.
std::vector<Field> fields_of(const auto& dataset) {
  return call_host([&]() -> std::vector<Field> { return dataset.fields(); });
}

/// Checks that there are fields, for a batch says by its fields how many samples it has. @throws
/// Error invalid_data if there are none.
void check_fields(const std::vector<Field>& fields);

/// Checks how many samples a batch has. @throws Error invalid_argument
void check_rows(std::int64_t rows);
/// Checks how many batches of a sampler make one batch. @throws Error invalid_argument
void check_concatenated(std::int64_t count);
/// Checks the numbers of threads and batches and the times. @throws Error invalid_argument
void check_threads(const DataLoaderOptions& options);
/// Checks the options that decide on the order of the samples. @throws Error invalid_argument
void check_order(const DataLoaderOptions& options);
/// Expects that the options say nothing about the order of the samples, since `why`.
void check_no_order(const DataLoaderOptions& options, const std::string& why);
/// Expects that `option` was not given, since `why`.
void expect_none(bool is_set, const std::string& option, const std::string& why);

/// Checks a sampler's numbers. @throws Error invalid_data for one that is none of the dataset's
/// `samples`.
void check_samples(const std::vector<std::int64_t>& order, std::int64_t samples);

/// Checks the tensors of a batch. @throws Error invalid_argument if `rows` samples of a field are
/// too many for one.
void check_batch(const std::vector<Field>& fields, std::int64_t rows);

}  // namespace penstock
