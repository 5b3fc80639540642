#include "actors/loader/loader_core.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace penstock::actors {
LoaderCore::LoaderCore(const LoaderSource& source, const LoaderSettings& settings)
    : fields_(source.fields),
      samples_(source.samples),
      settings_(settings),
      buffer_rows_(std::min(settings.batch_rows, source.samples)),
      buffers_(block_bytes(source.fields, buffer_rows_)) {}

EpochPlan LoaderCore::usual_plan(std::uint64_t epoch) const {
  auto order = epoch_order(samples_, settings_.shuffle, settings_.seed, epoch);
  if (settings_.part.count > 1) order = part_of_order(order, settings_.part, epoch);
  return plan_batches(std::move(order), settings_.batch_rows, settings_.batches);
}

void LoaderCore::start_epoch(std::uint64_t epoch, std::shared_ptr<const EpochPlan> plan) {
  epoch_ = epoch;
  plan_ = plan ? std::move(plan) : std::make_shared<const EpochPlan>(usual_plan(epoch));
  if (plan_->most_rows() > buffer_rows_) {
    buffer_rows_ = plan_->most_rows();
    buffers_ = LoaderBuffers(block_bytes(fields_, buffer_rows_));
  }
  assemblies_.clear();
  abandoned_ = reading_;
  opened_ = delivered_ = 0;
  asked_ = -1;
  failed_ = false;
}

void LoaderCore::ask(std::int64_t batch) {
  assert(batch == delivered_ || batch + 1 == delivered_);
  asked_ = batch;
  // Only now: an answer that its requester did not wait for is not lost.
  while (!assemblies_.empty() && assemblies_.front().batch < batch) assemblies_.pop_front();
}

bool LoaderCore::may_open() const noexcept {
  const std::int64_t wanted = settings_.ahead ? delivered_ + settings_.buffered : asked_ + 1;
  return plan_ && !failed_ && opened_ < std::min(wanted, plan_->batches());
}

std::shared_ptr<const BatchBuffer> LoaderCore::find_buffer() {
  // One for the consumer, the others ahead of it: allocated by the first batches, needed or not, so
  // that no later moment depends on timing.
  const std::int64_t capacity =
      settings_.ahead ? std::min<std::int64_t>(settings_.buffered + 1, plan_->batches()) : 1;
  if (buffers_.allocated() < capacity) return buffers_.allocate();
  if (auto buffer = buffers_.reuse()) return buffer;
  // More only if the consumer waits and nothing will come back.
  const bool starved = asked_ == delivered_ && batches_ahead() == 0 && abandoned_ == 0;
  return starved ? buffers_.allocate() : nullptr;
}

bool LoaderCore::open_assembly() try {
  if (!may_open()) return false;
  auto buffer = find_buffer();
  if (!buffer) return false;
  const std::int64_t rows = plan_->rows_of(opened_);
  auto parts = split_rows(rows, std::max(1, settings_.workers));
  assemblies_.push_back({opened_++, rows, std::move(buffer), std::move(parts), 0, 0, {}});
  return true;
} catch (const Error& error) {
  failed_ = true;
  assemblies_.push_back({opened_++, 0, {}, {}, 0, 0, ReadFailure{0, {error.what(), error.code()}}});
  return false;
}

std::optional<ReadTask> LoaderCore::next_task() {
  const bool issued_all =
      assemblies_.empty() || assemblies_.back().parts_issued == assemblies_.back().parts.size();
  if (issued_all && !open_assembly()) return std::nullopt;
  return issue(assemblies_.back());
}

ReadTask LoaderCore::issue(Assembly& assembly) {
  ++reading_;
  return {epoch_,
          assembly.batch,
          assembly.parts[assembly.parts_issued++],
          {plan_, &plan_->order},
          plan_->begin_of(assembly.batch),
          assembly.buffer};
}

void LoaderCore::finish(const ReadResult& result) {
  --reading_;
  if (result.epoch != epoch_) {
    --abandoned_;
    return;
  }
  const auto position = static_cast<std::size_t>(result.batch - assemblies_.front().batch);
  Assembly& assembly = assemblies_[position];
  ++assembly.parts_done;
  if (!result.failure) return;
  failed_ = true;
  // The first in the batch's order, whichever worker is quicker.
  if (!assembly.failure || result.failure->row < assembly.failure->row)
    assembly.failure = result.failure;
}

std::optional<LoadedBatch> LoaderCore::asked_batch() {
  if (assemblies_.empty() || assemblies_.front().batch != asked_ || !assemblies_.front().complete())
    return std::nullopt;
  const Assembly& assembly = assemblies_.front();
  if (assembly.failure) return LoadedBatch{{}, assembly.failure->why, false, 0};
  delivered_ = asked_ + 1;
  return LoadedBatch{tensors_of(fields_, assembly.rows, assembly.buffer), {}, false, 0};
}

std::int64_t LoaderCore::batches_ahead() const noexcept {
  return opened_ - delivered_;
}

}  // namespace penstock::actors
