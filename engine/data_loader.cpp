#include "penstock/data_loader.hpp"

#include <algorithm>
#include <chrono>

#include "actors/loader_runtime.hpp"
#include "engine/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using actors::LoaderRuntime;
using actors::LoaderSettings;
using actors::LoaderSource;

const Dataset& checked(const std::shared_ptr<const Dataset>& dataset) {
  if (!dataset) throw Error(Errc::invalid_argument, "data loader: expected a dataset, got none");
  if (dataset->size() <= 0) throw Error(Errc::invalid_data, "data loader: the dataset is empty");
  return *dataset;
}

void check(const DataLoaderOptions& options) {
  check_number("data_loader.workers", options.workers, {0, 1024});
  check_number("data_loader.buffered", options.buffered, {1, 1024});
  check_number("data_loader.timeout_seconds", options.timeout_seconds,
               {.low = 0, .high = 1e9, .above_low = true});
}

void check_batch(const Field& field, std::int64_t rows) try {
  std::vector<std::int64_t> dims{rows};
  dims.insert(dims.end(), field.shape.begin(), field.shape.end());
  static_cast<void>(Shape(dims));
} catch (const Error& error) {
  throw Error(Errc::invalid_argument, "data loader: " + std::to_string(rows) + " samples of \"" +
                                          field.name + "\" " + to_string(field.shape) +
                                          " make no batch: " + error.what());
}

LoaderSource source_of(std::shared_ptr<const Dataset> dataset) {
  LoaderSource source{.samples = dataset->size()};
  for (const Field& field : dataset->fields()) source.fields.push_back({field.dtype, field.shape});
  source.read = [dataset = std::move(dataset)](std::uint64_t epoch, std::int64_t sample,
                                               std::span<std::byte* const> destinations) {
    dataset->read_in_epoch(epoch, sample, destinations);
  };
  return source;
}

std::int64_t batches_of(std::int64_t samples, std::int64_t rows, const DataLoaderOptions& options) {
  return samples / rows + (!options.drop_last && samples % rows != 0 ? 1 : 0);
}

LoaderSettings settings_of(std::int64_t rows, std::int64_t batches,
                           const DataLoaderOptions& options) {
  return {.batch_rows = rows,
          .batches = batches,
          .shuffle = options.shuffle,
          .ahead = options.mode == LoaderMode::async,
          .buffered = options.buffered,
          .workers = options.workers,
          .seed = options.seed};
}

std::int64_t samples_per_step(const Options& model) {
  model.validate();
  return model.samples_per_step();
}

}  // namespace

class DataLoader::Impl {
 public:
  Impl(std::shared_ptr<const Dataset> dataset, std::int64_t rows, const DataLoaderOptions& options)
      : rows_(rows) {
    const std::int64_t samples = checked(dataset).size();
    check(options);
    check_number("data_loader.samples_per_batch", static_cast<double>(rows), {.low = 1});
    batches_ = batches_of(samples, rows, options);
    dropped_ = options.drop_last ? samples % rows : 0;
    if (batches_ == 0)
      throw Error(Errc::invalid_data, "data loader: a batch takes " + std::to_string(rows) +
                                          " samples, the dataset has " + std::to_string(samples));
    for (const Field& field : dataset->fields()) check_batch(field, std::min(rows, samples));
    runtime_ = std::make_unique<LoaderRuntime>(
        source_of(std::move(dataset)), settings_of(rows, batches_, options),
        std::chrono::nanoseconds(static_cast<std::int64_t>(options.timeout_seconds * 1e9)));
  }

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t batches() const noexcept { return batches_; }
  std::int64_t dropped() const noexcept { return dropped_; }

  void start_epoch() {
    runtime_->start_epoch(epoch_++);
    next_ = 0;
  }

  std::optional<Batch> next() {
    if (epoch_ == 0) start_epoch();
    if (next_ == batches_) return std::nullopt;
    Batch batch = runtime_->take(next_);
    ++next_;
    return batch;
  }

 private:
  std::int64_t rows_;
  std::int64_t batches_ = 0;
  std::int64_t dropped_ = 0;
  std::uint64_t epoch_ = 0;  // the next one's number
  std::int64_t next_ = 0;
  std::unique_ptr<LoaderRuntime> runtime_;
};

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, std::int64_t samples_per_batch,
                       const DataLoaderOptions& options)
    : impl_(std::make_unique<Impl>(std::move(dataset), samples_per_batch, options)) {}

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, const Options& model,
                       const DataLoaderOptions& options)
    : DataLoader(std::move(dataset), penstock::samples_per_step(model), options) {}

DataLoader::~DataLoader() = default;
DataLoader::DataLoader(DataLoader&&) noexcept = default;
DataLoader& DataLoader::operator=(DataLoader&&) noexcept = default;

std::int64_t DataLoader::samples_per_batch() const noexcept {
  return impl_->rows();
}

std::int64_t DataLoader::batches() const noexcept {
  return impl_->batches();
}

std::int64_t DataLoader::dropped_samples() const noexcept {
  return impl_->dropped();
}

void DataLoader::start_epoch() {
  impl_->start_epoch();
}

std::optional<Batch> DataLoader::next() {
  return impl_->next();
}

DataLoader::Iterator DataLoader::begin() {
  start_epoch();
  return Iterator(*this);
}

}  // namespace penstock
