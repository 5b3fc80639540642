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
using actors::StreamSettings;
using actors::StreamSource;

[[noreturn]] void refuse_empty() {
  throw Error(Errc::invalid_data, "data loader: the dataset is empty");
}

/// How many samples it says it has.
template <class AnyDataset>
std::optional<std::int64_t> checked_size(const std::shared_ptr<const AnyDataset>& dataset) {
  if (!dataset) throw Error(Errc::invalid_argument, "data loader: expected a dataset, got none");
  const std::optional<std::int64_t> size = dataset->size();
  if (size && *size <= 0) refuse_empty();
  return size;
}

void check(std::int64_t rows, const DataLoaderOptions& options) {
  check_number("data_loader.samples_per_batch", static_cast<double>(rows), {.low = 1});
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

std::vector<actors::SourceField> source_fields(const std::vector<Field>& fields) {
  std::vector<actors::SourceField> result;
  for (const Field& field : fields) result.push_back({field.dtype, field.shape});
  return result;
}

LoaderSource source_of(std::shared_ptr<const Dataset> dataset) {
  LoaderSource source{dataset->size(), source_fields(dataset->fields()), {}};
  source.read = [dataset = std::move(dataset)](std::uint64_t epoch, std::int64_t sample,
                                               std::span<std::byte* const> destinations) {
    dataset->read_in_epoch(epoch, sample, destinations);
  };
  return source;
}

StreamSource source_of(std::shared_ptr<const IterableDataset> dataset, int workers) {
  StreamSource source{source_fields(dataset->fields()), {}};
  source.open = [dataset = std::move(dataset), workers](std::uint64_t epoch, int worker) {
    std::shared_ptr<SampleStream> stream = dataset->begin({worker, workers, epoch});
    if (!stream) throw Error(Errc::invalid_data, "expected a stream, got none");
    return
        [stream](std::span<std::byte* const> destinations) { return stream->next(destinations); };
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
          .ahead = options.mode != LoaderMode::sync,
          .buffered = options.buffered,
          .workers = options.workers,
          .seed = options.seed};
}

StreamSettings stream_settings(std::int64_t rows, const DataLoaderOptions& options) {
  return {.batch_rows = rows,
          .drop_last = options.drop_last,
          .rebatched = options.mode == LoaderMode::rebatched,
          .ahead = options.mode != LoaderMode::sync,
          .buffered = options.buffered,
          .workers = std::max(1, options.workers)};
}

std::chrono::nanoseconds timeout_of(const DataLoaderOptions& options) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(options.timeout_seconds * 1e9));
}

std::string samples_text(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " sample" : " samples");
}

std::int64_t samples_per_step(const Options& model) {
  model.validate();
  return model.samples_per_step();
}

}  // namespace

class DataLoader::Impl {
 public:
  Impl(std::shared_ptr<const Dataset> dataset, std::int64_t rows, const DataLoaderOptions& options)
      : rows_(rows), options_(options) {
    const std::int64_t samples = *checked_size(dataset);
    check(rows, options);
    batches_ = batches_of(samples, rows, options);
    if (options.drop_last) dropped_ = samples % rows;
    if (!options.drop_last && samples % rows != 0) short_rows_ = samples % rows;
    if (batches_ == 0)
      throw Error(Errc::invalid_data, "data loader: a batch takes " + std::to_string(rows) +
                                          " samples, the dataset has " + std::to_string(samples));
    for (const Field& field : dataset->fields()) check_batch(field, std::min(rows, samples));
    runtime_ = std::make_unique<LoaderRuntime>(
        source_of(std::move(dataset)), settings_of(rows, batches_, options), timeout_of(options));
  }

  Impl(std::shared_ptr<const IterableDataset> dataset, std::int64_t rows,
       const DataLoaderOptions& options)
      : rows_(rows), options_(options), streams_(true) {
    const std::optional<std::int64_t> samples = checked_size(dataset);
    check(rows, options);
    if (options.shuffle)
      throw Error(
          Errc::invalid_argument,
          "data_loader.shuffle: expected false, since an iterable dataset gives its samples "
          "in its own order, got true");
    batches_ = samples ? batches_of(*samples, rows, options) : 0;
    for (const Field& field : dataset->fields()) check_batch(field, rows);
    const StreamSettings settings = stream_settings(rows, options);
    runtime_ = std::make_unique<LoaderRuntime>(source_of(std::move(dataset), settings.workers),
                                               settings, options.workers > 0, timeout_of(options));
  }

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t batches() const noexcept { return batches_; }
  std::int64_t dropped() const noexcept { return dropped_; }

  std::string note() const {
    if (dropped_ > 0)
      return "data loader: " + samples_text(dropped_) + " of each epoch left out, since " +
             (streams_ && options_.mode != LoaderMode::rebatched && options_.workers > 1
                  ? "each worker's last ones fill no batch of "
                  : "the last ones fill no batch of ") +
             std::to_string(rows_) + "; drop_last = false keeps them";
    if (short_rows_ > 0)
      return "data loader: the last batch has " + samples_text(short_rows_) + " instead of " +
             std::to_string(rows_);
    return {};
  }

  void start_epoch() {
    runtime_->start_epoch(epoch_++);
    next_ = 0;
    ended_ = false;
    if (streams_) dropped_ = short_rows_ = 0;
  }

  std::optional<Batch> next() {
    if (epoch_ == 0) start_epoch();
    if (ended_ || (!streams_ && next_ == batches_)) return std::nullopt;
    actors::LoadedBatch batch = runtime_->take(next_);
    if (streams_) learn_from(batch);
    if (ended_) return std::nullopt;
    ++next_;
    return std::move(batch.tensors);
  }

 private:
  void learn_from(const actors::LoadedBatch& batch) {
    dropped_ = batch.dropped;
    if (batch.ended && next_ == 0 && dropped_ == 0) refuse_empty();
    ended_ = batch.ended;
    if (ended_ || batch.tensors.empty()) return;
    const std::int64_t rows = batch.tensors.front().shape()[0];
    if (rows < rows_) short_rows_ = rows;
  }

  std::int64_t rows_;
  DataLoaderOptions options_;
  bool streams_ = false;
  std::int64_t batches_ = 0;
  std::int64_t dropped_ = 0;
  std::int64_t short_rows_ = 0;  // of a batch that is not full
  std::uint64_t epoch_ = 0;      // the next one's number
  std::int64_t next_ = 0;
  bool ended_ = false;  // the streams
  std::unique_ptr<LoaderRuntime> runtime_;
};

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, std::int64_t samples_per_batch,
                       const DataLoaderOptions& options)
    : impl_(std::make_unique<Impl>(std::move(dataset), samples_per_batch, options)) {}

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, const Options& model,
                       const DataLoaderOptions& options)
    : DataLoader(std::move(dataset), penstock::samples_per_step(model), options) {}

DataLoader::DataLoader(std::shared_ptr<const IterableDataset> dataset,
                       std::int64_t samples_per_batch, const DataLoaderOptions& options)
    : impl_(std::make_unique<Impl>(std::move(dataset), samples_per_batch, options)) {}

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

std::string DataLoader::note() const {
  return impl_->note();
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
