#include "penstock/data_loader.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "actors/loader/loader_runtime.hpp"
#include "engine/values/count_text.hpp"
#include "engine/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using actors::EpochPlan;
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

/// At least one, by which a batch says how many samples it has.
template <class AnyDataset>
std::vector<Field> checked_fields(const AnyDataset& dataset) {
  std::vector<Field> fields = dataset.fields();
  if (fields.empty())
    throw Error(Errc::invalid_data,
                "data loader: expected a dataset whose samples have a field at least, got none");
  return fields;
}

void check_rows(std::int64_t rows) {
  check_number("data_loader.samples_per_batch", static_cast<double>(rows), {.low = 1});
}

void check_threads(const DataLoaderOptions& options) {
  check_number("data_loader.workers", options.workers, {0, 1024});
  check_number("data_loader.buffered", options.buffered, {1, 1024});
  check_number("data_loader.timeout_seconds", options.timeout_seconds,
               {.low = 0, .high = 1e9, .above_low = true});
}

void expect_none(bool given, const std::string& option, const std::string& why) {
  if (given)
    throw Error(Errc::invalid_argument,
                "data_loader." + option + ": expected it to be left alone, since " + why);
}

void check_partition(const DataLoaderOptions& options) {
  const auto [index, count] = options.partition;
  check_number("data_loader.partition.count", count, {1, 1 << 20});
  check_number("data_loader.partition.index", index, {0, static_cast<double>(count - 1)});
  if (count > 1 && options.shuffle && !options.seed)
    throw Error(Errc::invalid_argument,
                "data_loader.seed: expected one that all parts of the partition share, since they "
                "shuffle, got none");
}

void check_order(const DataLoaderOptions& options) {
  check_partition(options);
  const std::string why = "a sampler decides on the order";
  expect_none(options.sampler && options.shuffle, "shuffle", why);
  expect_none(options.sampler && options.partition.count > 1, "partition", why);
}

void check_left_alone(const DataLoaderOptions& options, const std::string& why) {
  expect_none(options.shuffle, "shuffle", why);
  expect_none(options.sampler != nullptr, "sampler", why);
  expect_none(options.partition.count != 1 || options.partition.index != 0, "partition", why);
}

void check_samples(const std::vector<std::int64_t>& order, std::int64_t samples) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] < 0 || order[i] >= samples)
      throw Error(Errc::invalid_data, "data loader: the sampler's sample " + std::to_string(i) +
                                          " is " + std::to_string(order[i]) + ", expected 0 to " +
                                          std::to_string(samples - 1));
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
  source.read = [dataset = std::move(dataset)](std::int64_t sample, std::uint64_t epoch,
                                               const std::stop_token& stop,
                                               std::span<std::byte* const> to) {
    dataset->read({sample, epoch, stop}, to);
  };
  return source;
}

StreamSource source_of(std::shared_ptr<const IterableDataset> dataset, int workers) {
  StreamSource source{source_fields(dataset->fields()), {}};
  source.open = [dataset = std::move(dataset), workers](int worker, std::uint64_t epoch,
                                                        const std::stop_token& stop) {
    std::shared_ptr<SampleStream> stream = dataset->begin({worker, workers, epoch, stop});
    if (!stream) throw Error(Errc::invalid_data, "expected a stream, got none");
    return [stream](std::span<std::byte* const> to, const std::stop_token& stop_next) {
      return stream->next(to, stop_next);
    };
  };
  return source;
}

/// How an epoch's samples become batches.
struct EpochSize {
  std::int64_t used = 0;  // by each part
  std::int64_t batches = 0;
  std::int64_t dropped = 0;
  std::int64_t short_rows = 0;  // of a last batch that is not full
};

EpochSize epoch_size(std::int64_t samples, std::int64_t rows, const DataLoaderOptions& options) {
  EpochSize size;
  const std::int64_t share = samples / options.partition.count, rest = share % rows;
  size.used = options.drop_last ? share - rest : share;
  size.batches = size.used / rows + (size.used % rows != 0 ? 1 : 0);
  size.dropped = samples - options.partition.count * size.used;
  size.short_rows = size.used % rows;
  return size;
}

EpochPlan concatenated(const std::vector<std::vector<std::int64_t>>& batches, std::int64_t count) {
  EpochPlan plan;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (batches[i].empty())
      throw Error(Errc::invalid_data,
                  "data loader: the sampler's batch " + std::to_string(i) + " is empty");
    plan.order.insert(plan.order.end(), batches[i].begin(), batches[i].end());
    if ((static_cast<std::int64_t>(i) + 1) % count == 0)
      plan.ends.push_back(static_cast<std::int64_t>(plan.order.size()));
  }
  return plan;
}

LoaderSettings settings_of(std::int64_t rows, const EpochSize& size,
                           const DataLoaderOptions& options) {
  return {.batch_rows = rows,
          .batches = size.batches,
          .shuffle = options.shuffle,
          .ahead = options.mode != LoaderMode::sync,
          .buffered = options.buffered,
          .workers = options.workers,
          .seed = options.seed.value_or(0),
          .part = {options.partition.index, options.partition.count, size.used}};
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

std::int64_t samples_per_step(const Options& model) {
  model.validate();
  return model.samples_per_step();
}

}  // namespace

void DataLoaderOptions::validate() const {
  check_threads(*this);
  check_order(*this);
}

std::string_view to_string(LoaderMode value) noexcept {
  switch (value) {
    case LoaderMode::sync:
      return "sync";
    case LoaderMode::async:
      return "async";
    case LoaderMode::rebatched:
      return "rebatched";
  }
  return "unknown";
}

class DataLoader::Impl {
 public:
  Impl(std::shared_ptr<const Dataset> dataset, std::int64_t rows, const DataLoaderOptions& options)
      : rows_(rows), options_(options), samples_(*checked_size(dataset)) {
    check_rows(rows);
    options.validate();
    fields_ = checked_fields(*dataset);
    size_ = epoch_size(samples_, rows, options);
    if (options.sampler)
      plan_ = [this](std::uint64_t epoch) { return sampled(epoch); };
    else
      check_size(samples_ / options.partition.count);
    begin(std::move(dataset));
  }

  Impl(std::shared_ptr<const Dataset> dataset, BatchSampler sampler, std::int64_t count,
       const DataLoaderOptions& options)
      : rows_(1), options_(options), samples_(*checked_size(dataset)) {
    check_threads(options);
    check_number("data_loader.concatenated", static_cast<double>(count), {.low = 1});
    if (!sampler) throw Error(Errc::invalid_argument, "data loader: expected a sampler, got none");
    const std::string why = "a batch sampler decides on the batches";
    check_left_alone(options, why);
    expect_none(!options.drop_last, "drop_last", why);
    fields_ = checked_fields(*dataset);
    plan_ = [this, sampler = std::move(sampler), count](std::uint64_t epoch) {
      return batch_sampled(sampler(epoch), count);
    };
    begin(std::move(dataset));
  }

  Impl(std::shared_ptr<const IterableDataset> dataset, std::int64_t rows,
       const DataLoaderOptions& options)
      : rows_(rows), options_(options), streams_(true) {
    const std::optional<std::int64_t> samples = checked_size(dataset);
    check_rows(rows);
    check_threads(options);
    check_left_alone(options, "an iterable dataset gives its samples in its own order");
    if (samples) size_.batches = epoch_size(*samples, rows, options).batches;
    if (size_.batches == 1) only_rows_ = std::min(*samples, rows);
    fields_ = checked_fields(*dataset);
    for (const Field& field : fields_) check_batch(field, rows);
    const StreamSettings settings = stream_settings(rows, options);
    runtime_ = std::make_unique<LoaderRuntime>(source_of(std::move(dataset), settings.workers),
                                               settings, options.workers > 0, timeout_of(options));
  }

  const std::vector<Field>& fields() const noexcept { return fields_; }
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t last_rows() const noexcept {
    if (streams_) return only_rows_ > 0 ? only_rows_ : rows_;
    return size_.short_rows > 0 ? size_.short_rows : rows_;
  }
  bool has_batch_sampler() const noexcept { return plan_ && !options_.sampler; }
  std::int64_t batches() const noexcept { return size_.batches; }
  std::int64_t dropped() const noexcept { return size_.dropped; }

  std::string note() const {
    if (size_.dropped > 0)
      return "data loader: " + count_text(size_.dropped, "sample") +
             " of each epoch left out, since " + reason() +
             (can_keep() ? "; drop_last = false keeps them" : "");
    if (size_.short_rows > 0)
      return "data loader: the last batch has " + count_text(size_.short_rows, "sample") +
             " instead of " + std::to_string(rows_);
    return {};
  }

  void start_epoch() {
    auto plan = std::exchange(first_plan_, nullptr);
    if (plan_ && !plan) plan = make_plan(epoch_);
    runtime_->start_epoch(epoch_++, std::move(plan));
    next_ = 0;
    ended_ = false;
    begun_ = true;
    if (streams_) size_.dropped = size_.short_rows = 0;
  }

  void skip_epochs(std::uint64_t count) {
    if (plan_ && !begun_) first_plan_ = make_plan(epoch_ + count);
    epoch_ += count;
  }

  std::optional<Batch> next() {
    if (!begun_) start_epoch();
    if (ended_ || (!streams_ && next_ == size_.batches)) return std::nullopt;
    actors::LoadedBatch batch = runtime_->take(next_);
    if (streams_) learn_from(batch);
    if (ended_) return std::nullopt;
    ++next_;
    return std::move(batch.tensors);
  }

  double waited_seconds() const noexcept {
    return std::chrono::duration<double>(runtime_->waited()).count();
  }

 private:
  std::string reason() const {
    if (has_batch_sampler()) return "the sampler's last batches are too few for another one";
    if (options_.partition.count > 1) return "all parts of the partition are equally long";
    const bool each = streams_ && options_.mode != LoaderMode::rebatched && options_.workers > 1;
    return (each ? "each worker's last ones" : "the last ones") +
           std::string(" fill no batch of ") + std::to_string(rows_);
  }
  bool can_keep() const { return options_.partition.count == 1 && !has_batch_sampler(); }

  void check_size(std::int64_t share) const {
    if (size_.batches > 0) return;
    const std::string part = options_.partition.count > 1 ? "part of the dataset" : "dataset";
    throw Error(Errc::invalid_data, "data loader: a batch takes " + std::to_string(rows_) +
                                        " samples, the " + part + " has " + std::to_string(share));
  }

  void begin(std::shared_ptr<const Dataset> dataset) {
    if (plan_) first_plan_ = make_plan(0);
    for (const Field& field : fields_) check_batch(field, std::min(rows_, samples_));
    runtime_ = std::make_unique<LoaderRuntime>(
        source_of(std::move(dataset)), settings_of(rows_, size_, options_), timeout_of(options_));
  }

  /// What a sampler says about an epoch; nothing has changed if it throws.
  std::shared_ptr<const EpochPlan> make_plan(std::uint64_t epoch) {
    EpochPlan plan = plan_(epoch);
    const auto given = static_cast<std::int64_t>(plan.order.size());
    if (plan.batches() == 0)
      throw Error(Errc::invalid_data, "data loader: the sampler's " + count_text(given, "sample") +
                                          " for epoch " + std::to_string(epoch) + " make no batch");
    for (const Field& field : fields_) check_batch(field, plan.most_rows());
    if (!options_.sampler) rows_ = plan.most_rows();
    size_.batches = plan.batches();
    size_.dropped = given - plan.ends.back();
    size_.short_rows = options_.sampler ? plan.rows_of(plan.batches() - 1) % rows_ : 0;
    return std::make_shared<const EpochPlan>(std::move(plan));
  }

  EpochPlan sampled(std::uint64_t epoch) const {
    std::vector<std::int64_t> order = options_.sampler(epoch);
    check_samples(order, samples_);
    const auto batches =
        epoch_size(static_cast<std::int64_t>(order.size()), rows_, options_).batches;
    return actors::plan_batches(std::move(order), rows_, batches);
  }

  EpochPlan batch_sampled(const std::vector<std::vector<std::int64_t>>& batches,
                          std::int64_t count) const {
    EpochPlan plan = concatenated(batches, count);
    check_samples(plan.order, samples_);
    return plan;
  }

  void learn_from(const actors::LoadedBatch& batch) {
    size_.dropped = batch.dropped;
    if (batch.ended && next_ == 0 && batch.dropped == 0) refuse_empty();
    ended_ = batch.ended;
    if (ended_ || batch.tensors.empty()) return;
    const std::int64_t rows = batch.tensors.front().shape()[0];
    if (rows < rows_) size_.short_rows = rows;
  }

  std::int64_t rows_;
  DataLoaderOptions options_;
  bool streams_ = false;
  std::int64_t only_rows_ = 0;  // of the only batch that the streams' size makes, if it is one
  std::int64_t samples_ = 0;    // of a dataset that has numbers for them
  std::vector<Field> fields_;
  EpochSize size_;
  std::function<EpochPlan(std::uint64_t epoch)> plan_;  // by a sampler
  std::shared_ptr<const EpochPlan> first_plan_;         // until the first epoch begins
  std::uint64_t epoch_ = 0;                             // the next one's number
  bool begun_ = false;
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

DataLoader::DataLoader(std::shared_ptr<const IterableDataset> dataset, const Options& model,
                       const DataLoaderOptions& options)
    : DataLoader(std::move(dataset), penstock::samples_per_step(model), options) {}

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, BatchSampler sampler,
                       std::int64_t concatenated, const DataLoaderOptions& options)
    : impl_(std::make_unique<Impl>(std::move(dataset), std::move(sampler), concatenated, options)) {
}

DataLoader::~DataLoader() = default;
DataLoader::DataLoader(DataLoader&&) noexcept = default;
DataLoader& DataLoader::operator=(DataLoader&&) noexcept = default;

const std::vector<Field>& DataLoader::fields() const noexcept {
  return impl_->fields();
}

std::int64_t DataLoader::samples_per_batch() const noexcept {
  return impl_->rows();
}

std::int64_t DataLoader::last_batch_samples() const noexcept {
  return impl_->last_rows();
}

bool DataLoader::has_batch_sampler() const noexcept {
  return impl_->has_batch_sampler();
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

void DataLoader::skip_epochs(std::uint64_t count) {
  impl_->skip_epochs(count);
}

std::optional<Batch> DataLoader::next() {
  return impl_->next();
}

double DataLoader::waited_seconds() const noexcept {
  return impl_->waited_seconds();
}

DataLoader::Iterator DataLoader::begin() {
  start_epoch();
  return Iterator(*this);
}

}  // namespace penstock
