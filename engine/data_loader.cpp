#include "penstock/data_loader.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "actors/loader/loader_runtime.hpp"
#include "actors/system/owning_process.hpp"
#include "actors/threads/uncancelled.hpp"
#include "engine/loader/batch_counts.hpp"
#include "engine/loader/call_gate.hpp"
#include "engine/loader/epoch_plans.hpp"
#include "engine/loader/loader_checks.hpp"
#include "engine/loader/loader_sources.hpp"
#include "graph/values/canonical_floats.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using actors::EpochPlan;
using actors::LoaderRuntime;

constexpr std::string_view constructor = "the constructor of a DataLoader";

std::int64_t samples_per_step(const Options& model) {
  model.validate();
  return model.samples_per_step();
}

/// Makes what a loader holds of the arguments of its constructor.
template <class Impl>
std::unique_ptr<Impl> made(auto&&... arguments) {
  const actors::Uncancelled uncancelled;
  return or_out_of_memory(constructor, [&] {
    return std::make_unique<Impl>(std::forward<decltype(arguments)>(arguments)...);
  });
}

}  // namespace

void DataLoaderOptions::validate() const {
  or_out_of_memory("DataLoaderOptions::validate", [&] {
    check_threads(*this);
    check_order(*this);
  });
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
  /// A refusal of too few samples ends with `origin`, which says where `rows` comes from.
  Impl(std::shared_ptr<const Dataset> dataset, std::int64_t rows, const DataLoaderOptions& options,
       const std::string& origin = "")
      : options_(options), samples_(*checked_size(dataset)) {
    check_rows(rows);
    options.validate();
    fields_ = fields_of(*dataset);
    check_fields(fields_);
    counts_.rows = rows;
    const EpochSize size = epoch_size(samples_, rows, options);
    counts_.set(size);
    if (options.sampler)
      plan_ = [this, rows](std::uint64_t epoch) {
        return sampled_plan(options_, rows, samples_, epoch);
      };
    else
      expect_batches(samples_ / options.partition.count, origin);
    begin(std::move(dataset), size);
  }

  Impl(std::shared_ptr<const Dataset> dataset, BatchSampler sampler, std::int64_t count,
       const DataLoaderOptions& options)
      : options_(options), samples_(*checked_size(dataset)) {
    check_threads(options);
    check_concatenated(count);
    if (!sampler) throw Error(Errc::invalid_argument, "data loader: expected a sampler, got none");
    const std::string why = "a batch sampler decides on the batches";
    check_no_order(options, why);
    expect_none(!options.drop_last, "drop_last", why);
    fields_ = fields_of(*dataset);
    check_fields(fields_);
    plan_ = [this, sampler = std::move(sampler), count](std::uint64_t epoch) {
      return batch_sampled_plan(sampler, count, samples_, epoch);
    };
    begin(std::move(dataset), {});
  }

  Impl(std::shared_ptr<const IterableDataset> dataset, std::int64_t rows,
       const DataLoaderOptions& options)
      : options_(options), streams_(true) {
    const std::optional<std::int64_t> samples = checked_size(dataset);
    check_rows(rows);
    check_threads(options);
    check_no_order(options, "an iterable dataset gives its samples in its own order");
    counts_.rows = rows;
    if (samples) counts_.batches = epoch_size(*samples, rows, options).batches;
    if (counts_.batches == 1) only_rows_ = std::min(*samples, rows);
    fields_ = fields_of(*dataset);
    check_fields(fields_);
    check_batch(fields_, rows);
    const actors::StreamSettings settings = stream_settings(rows, options);
    runtime_ = std::make_unique<LoaderRuntime>(source_of(std::move(dataset), settings.workers),
                                               settings, loader_limits(options));
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Closes the loader before its destruction. An exception of the host's log function is dropped,
  /// because a destructor must not throw.
  void end() noexcept try {
    if (runtime_) tell(runtime_->close());
  } catch (...) {
  }

  bool in_own_process() const noexcept { return process_.is_current(); }
  const std::vector<Field>& fields() const noexcept { return fields_; }
  std::int64_t rows() const noexcept { return counts_.rows; }
  std::int64_t last_rows() const noexcept {
    if (streams_) return only_rows_ > 0 ? only_rows_ : counts_.rows.load();
    const std::int64_t short_rows = counts_.short_rows;
    return short_rows > 0 ? short_rows : counts_.rows.load();
  }
  bool has_batch_sampler() const noexcept { return plan_ && !options_.sampler; }
  std::int64_t batches() const noexcept { return counts_.batches; }
  std::int64_t dropped() const noexcept { return counts_.dropped; }

  std::string note() const { return counts_.note(reason()); }

  void start_epoch() {
    const Call call(*this, "start_epoch()");
    begin_epoch();
  }

  void skip_epochs(std::uint64_t count) {
    const Call call(*this, "skip_epochs()");
    std::optional<SampledEpoch> later;
    if (plan_ && !begun_) counts_.set(later.emplace(sampled_epoch(epoch_ + count)));
    next_epoch_ = std::move(later);
    epoch_ += count;
  }

  LoaderPosition position() {
    const Call call(*this, "position()");
    if (!begun_) return {epoch_, 0};
    const std::uint64_t skipped = epoch_ - under_way_ - 1;
    return {under_way_, next_, skipped, next_ == 0 && skipped == 0};
  }

  void seek(const LoaderPosition& to, const std::stop_token& stop) {
    const Call call(*this, "seek()");
    check_epoch(to, epoch_);
    std::optional<SampledEpoch> sought;
    if (plan_) sought = to.epoch == epoch_ && next_epoch_ ? next_epoch_ : sampled_epoch(to.epoch);
    if (!streams_) check_batches(to, sought ? sought->plan->batches() : counts_.batches.load());
    next_epoch_ = std::move(sought);
    epoch_ = to.epoch;
    if (to.batches == 0 && to.skipped == 0 && !to.begun) {
      begun_ = false;
      return count_epoch();
    }
    begin_epoch(streams_ ? 0 : to.batches);
    epoch_ += to.skipped;
    while (next_ < to.batches) {
      expect_not_stopped(to, stop);
      if (!next_batch(stop)) check_batches(to, next_);
    }
  }

  std::optional<Batch> next(const std::stop_token& stop) {
    const Call call(*this, "next()");
    if (!begun_) begin_epoch();
    return next_batch(stop);
  }

  ClosedLoader close() {
    const Call call(*this, "close()");
    const actors::LoaderRemains remains = runtime_->close();
    tell(remains);
    return {remains.threads, remains.text};
  }

  std::vector<HostEvent> take_trace() {
    const Call call(*this, "take_trace()");
    return runtime_->take_trace();
  }

  double waited_seconds() const noexcept {
    const CanonicalFloats floats;
    return std::chrono::duration<double>(runtime_->waited()).count();
  }

 private:
  /// A Call is a call of this loader. A call is refused while another one is under way, and in a
  /// forked process.
  class Call {
   public:
    Call(Impl& loader, const char* name) : call_(expect_here(loader), "data loader", name) {}

   private:
    static CallGate& expect_here(Impl& loader) {
      loader.process_.expect_current("data loader: it");
      return loader.gate_;
    }
    const actors::Uncancelled uncancelled_;
    CallGate::Call call_;
  };

  std::optional<Batch> next_batch(const std::stop_token& stop) {
    if (ended_ || (!streams_ && next_ == counts_.batches)) return std::nullopt;
    actors::LoadedBatch batch = runtime_->take(next_, stop);
    if (streams_) learn_from(batch);
    if (ended_) return std::nullopt;
    ++next_;
    return std::move(batch.tensors);
  }

  void expect_not_stopped(const LoaderPosition& to, const std::stop_token& stop) const {
    if (stop.stop_requested())
      throw Error(Errc::cancelled, "data loader: seek: was asked to stop after " +
                                       std::to_string(next_) + " of " + std::to_string(to.batches) +
                                       " batches");
  }

  void begin_epoch(std::int64_t first_batch = 0) {
    if (plan_ && !next_epoch_) next_epoch_ = sampled_epoch(epoch_);
    runtime_->start_epoch(epoch_, next_epoch_ ? next_epoch_->plan : nullptr, first_batch);
    count_epoch();
    next_epoch_.reset();
    under_way_ = epoch_++;
    next_ = first_batch;
    ended_ = false;
    begun_ = true;
  }

  /// Sets the counts to what is known of the epoch that is about to begin.
  void count_epoch() {
    if (next_epoch_) counts_.set(*next_epoch_);
    if (streams_) counts_.dropped = counts_.short_rows = 0;
  }

  /// Returns a text that says why samples are in no batch and, if an option would help, which one.
  std::string reason() const {
    if (has_batch_sampler()) return "the sampler's last batches are too few for another one";
    if (options_.partition.count > 1) return "all partitions are equally long";
    const bool each = streams_ && options_.mode != LoaderMode::rebatched && options_.workers > 1;
    return (each ? "each worker's last ones" : "the last ones") +
           std::string(" fill no batch of ") + std::to_string(counts_.rows) +
           "; drop_last = false keeps them";
  }

  void expect_batches(std::int64_t samples, const std::string& origin) const {
    if (counts_.batches > 0) return;
    const std::string source = options_.partition.count > 1 ? "partition" : "dataset";
    throw Error(Errc::invalid_data, "data loader: a batch takes " + std::to_string(counts_.rows) +
                                        " samples, the " + source + " has " +
                                        std::to_string(samples) + origin);
  }

  void begin(std::shared_ptr<const Dataset> dataset, const EpochSize& size) {
    if (plan_) counts_.set(next_epoch_.emplace(sampled_epoch(0)));
    check_batch(fields_, std::min<std::int64_t>(counts_.rows, samples_));
    runtime_ = std::make_unique<LoaderRuntime>(source_of(std::move(dataset)),
                                               loader_settings(counts_.rows, size, options_),
                                               loader_limits(options_));
  }

  /// Returns epoch `number` as the sampler chooses it. @throws Error invalid_data if its samples
  /// make no batch; other errors as `plan_` and check_batch().
  SampledEpoch sampled_epoch(std::uint64_t number) const {
    EpochPlan plan = plan_(number);
    const auto samples = static_cast<std::int64_t>(plan.order.size());
    if (plan.batches() == 0)
      throw Error(Errc::invalid_data, "data loader: the sampler's " +
                                          count_text(samples, "sample") + " for epoch " +
                                          std::to_string(number) + " make no batch");
    check_batch(fields_, plan.most_rows());
    SampledEpoch epoch;
    epoch.rows = options_.sampler ? counts_.rows.load() : plan.most_rows();
    const std::int64_t last = plan.batches() - 1;
    epoch.dropped = samples - plan.begin_of(last) - plan.rows_of(last);
    epoch.short_rows = options_.sampler ? plan.rows_of(last) % epoch.rows : 0;
    epoch.plan = std::make_shared<const EpochPlan>(std::move(plan));
    return epoch;
  }

  void learn_from(const actors::LoadedBatch& batch) {
    counts_.dropped = batch.dropped;
    if (batch.ended && next_ == 0 && batch.dropped == 0) refuse_empty_dataset();
    ended_ = batch.ended;
    if (ended_ || batch.tensors.empty()) return;
    const std::int64_t rows = batch.tensors.front().shape()[0];
    if (rows < counts_.rows) counts_.short_rows = rows;
  }

  /// Tells the host's log, at most once, which threads are still in the dataset's code after the
  /// loader was closed.
  void tell(const actors::LoaderRemains& remains) {
    if (remains.threads == 0 || !options_.log || std::exchange(remains_logged_, true)) return;
    call_host([&] { options_.log(remains.text); });
  }

  const actors::OwningProcess process_;
  CallGate gate_;
  const DataLoaderOptions options_;
  const bool streams_ = false;
  // `only_rows_` is the number of rows of the only batch, if the size that an iterable dataset says
  // makes just one batch. Otherwise it is 0.
  std::int64_t only_rows_ = 0;
  // `samples_` is the number of the dataset's samples; for an iterable dataset it is 0.
  const std::int64_t samples_ = 0;
  std::vector<Field> fields_;
  BatchCounts counts_;
  // `plan_` asks the sampler for the plan of an epoch. It is empty if there is no sampler.
  std::function<EpochPlan(std::uint64_t epoch)> plan_;
  // `next_epoch_` is the next epoch, as the sampler has chosen it. It is empty if the sampler was
  // not asked for it yet.
  std::optional<SampledEpoch> next_epoch_;
  std::uint64_t epoch_ = 0;  // `epoch_` is the number of the next epoch.
  bool begun_ = false;
  std::uint64_t under_way_ = 0;  // `under_way_` is the number of the epoch that has begun last.
  std::int64_t next_ = 0;
  bool ended_ = false;  // `ended_` says whether the streams have ended.
  bool remains_logged_ = false;
  std::unique_ptr<LoaderRuntime> runtime_;
};

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, std::int64_t samples_per_batch,
                       const DataLoaderOptions& options)
    : impl_(made<Impl>(std::move(dataset), samples_per_batch, options)) {}

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, const Options& model,
                       const DataLoaderOptions& options)
    : impl_(made<Impl>(std::move(dataset), penstock::samples_per_step(model), options,
                       origin_of_rows(model))) {}

DataLoader::DataLoader(std::shared_ptr<const IterableDataset> dataset,
                       std::int64_t samples_per_batch, const DataLoaderOptions& options)
    : impl_(made<Impl>(std::move(dataset), samples_per_batch, options)) {}

DataLoader::DataLoader(std::shared_ptr<const IterableDataset> dataset, const Options& model,
                       const DataLoaderOptions& options)
    : DataLoader(std::move(dataset), penstock::samples_per_step(model), options) {}

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, BatchSampler sampler,
                       std::int64_t concatenated, const DataLoaderOptions& options)
    : impl_(made<Impl>(std::move(dataset), std::move(sampler), concatenated, options)) {}

DataLoader::~DataLoader() {
  const actors::Uncancelled uncancelled;
  if (impl_ && impl_->in_own_process()) impl_->end();
  // In a forked process, the loader is not freed: another thread of the parent may have been
  // changing it at the time of the fork. A function of the host's that end() calls may fork, too.
  if (impl_ && !impl_->in_own_process()) static_cast<void>(impl_.release());
  impl_.reset();
}

DataLoader::DataLoader(DataLoader&&) noexcept = default;

DataLoader& DataLoader::operator=(DataLoader&& other) noexcept {
  DataLoader taken(std::move(other));
  impl_.swap(taken.impl_);  // The destructor of `taken` then ends the old loader.
  return *this;
}

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
  return or_out_of_memory("DataLoader::note", [&] { return impl_->note(); });
}

void DataLoader::start_epoch() {
  or_out_of_memory("DataLoader::start_epoch", [&] { impl_->start_epoch(); });
}

void DataLoader::skip_epochs(std::uint64_t count) {
  or_out_of_memory("DataLoader::skip_epochs", [&] { impl_->skip_epochs(count); });
}

LoaderPosition DataLoader::position() const {
  return or_out_of_memory("DataLoader::position", [&] { return impl_->position(); });
}

void DataLoader::seek(const LoaderPosition& position, const std::stop_token& stop) {
  or_out_of_memory("DataLoader::seek", [&] { impl_->seek(position, stop); });
}

std::optional<Batch> DataLoader::next(const std::stop_token& stop) {
  return or_out_of_memory("DataLoader::next", [&] { return impl_->next(stop); });
}

ClosedLoader DataLoader::close() {
  return or_out_of_memory("DataLoader::close", [&] { return impl_->close(); });
}

double DataLoader::waited_seconds() const noexcept {
  return impl_->waited_seconds();
}

std::vector<HostEvent> DataLoader::take_trace() {
  return or_out_of_memory("DataLoader::take_trace", [&] { return impl_->take_trace(); });
}

DataLoader::Iterator DataLoader::begin() {
  start_epoch();
  return Iterator(*this);
}

}  // namespace penstock
