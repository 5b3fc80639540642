#include "actors/loader/loader_core.hpp"

#include <algorithm>
#include <cassert>
#include <exception>
#include <string>
#include <utility>

#include "actors/loader/load_failure.hpp"

namespace penstock::actors {

LoaderCore::LoaderCore(const LoaderSource& source, const LoaderSettings& settings)
    : fields_(source.fields),
      samples_(source.samples),
      settings_(settings),
      buffer_rows_(std::min(settings.batch_rows, source.samples)),
      buffers_(block_bytes(source.fields, buffer_rows_)) {}

EpochPlan LoaderCore::usual_plan(std::uint64_t epoch) const {
  EpochPlan plan;
  if (settings_.shuffle) plan.order = shuffled_order(samples_, settings_.seed, epoch);
  plan.equal = {samples_, settings_.batch_rows, settings_.batches};
  if (settings_.partition.count > 1) {
    plan.window = partition_window(samples_, settings_.partition, epoch);
    plan.equal.samples = settings_.partition.samples;
  }
  return plan;
}

void LoaderCore::start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan,
                             std::int64_t first_batch) noexcept {
  epoch_ = epoch;
  requested_plan_ = std::move(plan);
  plan_ = nullptr;
  assemblies_.clear();
  abandoned_ = reading_;
  opened_ = delivered_ = first_batch;
  asked_ = -1;
  failed_ = false;
  make_plan();
}

void LoaderCore::make_plan() noexcept try {
  no_plan_.reset();
  std::shared_ptr<const EpochPlan> plan = requested_plan_;
  if (!plan) plan = std::make_shared<const EpochPlan>(usual_plan(epoch_));
  if (const std::int64_t rows = plan->most_rows(); rows > buffer_rows_) {
    buffers_ = LoaderBuffers(block_bytes(fields_, rows));
    buffer_rows_ = rows;
  }
  plan_ = std::move(plan);
} catch (...) {
  no_plan_ = failure_of(std::current_exception(), Errc::internal, [] { return std::string(); });
}

void LoaderCore::ask(std::int64_t batch) noexcept {
  assert(batch == delivered_ || batch + 1 == delivered_);
  asked_ = batch;
  if (no_plan_) make_plan();
  // A batch that was delivered is kept until the consumer asks for a later one, because the
  // consumer may have given up waiting before the batch came, and may ask for it again.
  while (!assemblies_.empty() && assemblies_.front().batch < batch) assemblies_.pop_front();
}

bool LoaderCore::may_open() const noexcept {
  const std::int64_t wanted = settings_.ahead ? delivered_ + settings_.buffered : asked_ + 1;
  return plan_ && !failed_ && opened_ < std::min(wanted, plan_->batches());
}

std::shared_ptr<const BatchBuffer> LoaderCore::find_buffer() {
  // One buffer is for the consumer; the others are for batches that are read ahead. All of these
  // buffers are allocated for the first batches, even if a buffer has come back by then, so that
  // the number of allocations does not depend on timing.
  const std::int64_t capacity =
      settings_.ahead ? std::min<std::int64_t>(settings_.buffered + 1, plan_->batches()) : 1;
  if (buffers_.allocated() < capacity) return buffers_.allocate_or_reuse();
  buffers_.trim(capacity);
  if (auto buffer = buffers_.reuse()) return buffer;
  // More buffers are allocated only if the consumer waits and no buffer will come back.
  const bool starved = asked_ == delivered_ && batches_ahead() == 0 && abandoned_ == 0;
  return starved ? buffers_.allocate() : nullptr;
}

bool LoaderCore::open_assembly() {
  if (!may_open()) return false;
  auto buffer = find_buffer();
  if (!buffer) return false;
  const std::int64_t rows = plan_->rows_of(opened_);
  auto ranges = split_rows(rows, std::max(1, settings_.workers));
  assemblies_.push_back({opened_, rows, std::move(buffer), std::move(ranges), 0, 0, {}});
  ++opened_;
  return true;
}

bool LoaderCore::has_task() {
  const bool issued_all =
      assemblies_.empty() || assemblies_.back().ranges_issued == assemblies_.back().ranges.size();
  return !issued_all || open_assembly();
}

ReadTask LoaderCore::take_task() noexcept {
  Assembly& assembly = assemblies_.back();
  ++reading_;
  const RowRange rows = assembly.ranges[assembly.ranges_issued++];
  return {epoch_, assembly.batch, rows, plan_, plan_->begin_of(assembly.batch), assembly.buffer};
}

void LoaderCore::finish(ReadResult result) noexcept {
  --reading_;
  if (result.epoch != epoch_) {
    --abandoned_;
    return;
  }
  const auto position = static_cast<std::size_t>(result.batch - assemblies_.front().batch);
  Assembly& assembly = assemblies_[position];
  ++assembly.ranges_done;
  if (!result.failure) return;
  failed_ = true;
  // If several rows fail, the batch's failure is that of the first of these rows, no matter which
  // reader is quicker.
  if (!assembly.failure || result.failure->row < assembly.failure->row)
    assembly.failure = std::move(result.failure);
}

std::optional<LoadedBatch> LoaderCore::asked_batch() {
  if (no_plan_ && asked_ >= 0) return LoadedBatch{{}, no_plan_, false, 0};
  if (assemblies_.empty() || assemblies_.front().batch != asked_ || !assemblies_.front().complete())
    return std::nullopt;
  const Assembly& assembly = assemblies_.front();
  if (assembly.failure) return LoadedBatch{{}, assembly.failure->why, false, 0};
  LoadedBatch batch{tensors_of(fields_, assembly.rows, assembly.buffer), {}, false, 0};
  delivered_ = asked_ + 1;
  return batch;
}

std::int64_t LoaderCore::batches_ahead() const noexcept {
  return opened_ - delivered_;
}

}  // namespace penstock::actors
