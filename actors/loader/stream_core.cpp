#include "actors/loader/stream_core.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace penstock::actors {
namespace {

std::int64_t rows_per_chunk(const StreamSettings& settings) {
  if (!settings.rebatched) return settings.batch_rows;
  return (settings.batch_rows + settings.workers - 1) / settings.workers;
}

}  // namespace

StreamCore::StreamCore(const StreamSource& source, const StreamSettings& settings)
    : fields_(source.fields),
      settings_(settings),
      chunk_rows_(rows_per_chunk(settings)),
      row_bytes_(block_bytes(fields_, 1)),
      chunk_buffers_(block_bytes(fields_, chunk_rows_)),
      batch_buffers_(block_bytes(fields_, settings.batch_rows)),
      ended_(static_cast<std::size_t>(settings.workers), false) {}

void StreamCore::start_epoch(std::uint64_t epoch) noexcept {
  begun_ = true;
  epoch_ = epoch;
  chunks_.clear();
  std::fill(ended_.begin(), ended_.end(), false);
  opened_ = false;
  next_chunk_ = 0;
  turn_ = 0;
  partial_.reset();
  partial_rows_ = dropped_ = 0;
  asked_ = -1;
  answer_.reset();
  abandoned_ = reading_;
  failed_ = false;
}

void StreamCore::ask(std::int64_t batch) noexcept {
  assert(batch == asked_ || batch == asked_ + 1);
  if (batch == asked_) return;
  asked_ = batch;
  answer_.reset();
}

bool StreamCore::all_ended() const noexcept {
  return std::find(ended_.begin(), ended_.end(), false) == ended_.end();
}

bool StreamCore::may_open() const noexcept {
  if (!begun_ || failed_ || all_ended()) return false;
  const auto open = static_cast<std::int64_t>(chunks_.size());
  const std::int64_t chunks_per_batch = settings_.rebatched ? settings_.workers : 1;
  if (settings_.ahead) return open < settings_.buffered * chunks_per_batch;
  return asked_ >= 0 && !answer_ && open < chunks_per_batch;
}

std::shared_ptr<const BatchBuffer> StreamCore::find_buffer() {
  const std::int64_t ahead = settings_.ahead ? settings_.buffered : 0;
  const std::int64_t capacity =
      settings_.rebatched ? std::max<std::int64_t>(1, ahead) * settings_.workers : ahead + 1;
  // All buffers of the usual number are allocated for the first chunks, even if a buffer has come
  // back by then, so that the number of allocations does not depend on timing.
  if (chunk_buffers_.allocated() < capacity) return chunk_buffers_.allocate_or_reuse();
  chunk_buffers_.trim(capacity);
  if (auto buffer = chunk_buffers_.reuse()) return buffer;
  // More buffers are allocated only if the consumer waits and no buffer will come back.
  const bool starved = asked_ >= 0 && !answer_ && chunks_.empty() && abandoned_ == 0;
  return starved ? chunk_buffers_.allocate() : nullptr;
}

bool StreamCore::has_task() {
  if (opened_) return true;
  if (!may_open()) return false;
  auto buffer = find_buffer();
  if (!buffer) return false;
  int worker = turn_;
  while (ended_[static_cast<std::size_t>(worker)]) worker = (worker + 1) % settings_.workers;
  chunks_.push_back({next_chunk_, worker, std::move(buffer), false, 0, 0, {}});
  ++next_chunk_;
  turn_ = (worker + 1) % settings_.workers;
  opened_ = true;
  return true;
}

FillTask StreamCore::take_task() noexcept {
  opened_ = false;
  ++reading_;
  const Chunk& chunk = chunks_.back();
  return {epoch_, chunk.number, chunk.worker, chunk_rows_, chunk.buffer};
}

void StreamCore::finish(FillResult result) noexcept {
  --reading_;
  if (result.epoch != epoch_) {
    --abandoned_;
    return;
  }
  Chunk& chunk = chunks_[static_cast<std::size_t>(result.chunk - chunks_.front().number)];
  chunk.done = true;
  chunk.filled = result.filled;
  if (result.filled < chunk_rows_) ended_[static_cast<std::size_t>(chunk.worker)] = true;
  if (result.failure) failed_ = true;
  chunk.failure = std::move(result.failure);
}

std::optional<LoadedBatch> StreamCore::asked_batch() {
  if (asked_ >= 0 && !answer_) answer_ = assemble();
  return answer_;
}

std::optional<LoadedBatch> StreamCore::assemble() {
  while (!chunks_.empty() && chunks_.front().done) {
    Chunk& chunk = chunks_.front();
    if (chunk.failure) return LoadedBatch{{}, chunk.failure, false, dropped_};
    auto batch = settings_.rebatched ? add_to_batch(chunk) : own_batch(chunk);
    if (!settings_.rebatched || chunk.used == chunk.filled) chunks_.pop_front();
    if (batch) return batch;
  }
  if (!chunks_.empty() || !all_ended()) return std::nullopt;
  return last_batch();
}

std::optional<LoadedBatch> StreamCore::own_batch(const Chunk& chunk) {
  if (chunk.filled == chunk_rows_ || (chunk.filled > 0 && !settings_.drop_last))
    return batch_of(chunk.filled, chunk.buffer);
  dropped_ += chunk.filled;
  return std::nullopt;
}

std::optional<LoadedBatch> StreamCore::add_to_batch(Chunk& chunk) {
  constexpr int usual = 2;  // The consumer has one buffer; the other is for the next batch.
  if (!partial_) batch_buffers_.trim(usual);
  if (!partial_ && batch_buffers_.allocated() >= usual) partial_ = batch_buffers_.reuse();
  if (!partial_) partial_ = batch_buffers_.allocate_or_reuse();
  const std::int64_t rows =
      std::min(settings_.batch_rows - partial_rows_, chunk.filled - chunk.used);
  for (std::size_t i = 0; i < fields_.size(); ++i)
    std::memcpy((*partial_)[i].get() + static_cast<std::size_t>(partial_rows_) * row_bytes_[i],
                (*chunk.buffer)[i].get() + static_cast<std::size_t>(chunk.used) * row_bytes_[i],
                static_cast<std::size_t>(rows) * row_bytes_[i]);
  chunk.used += rows;
  partial_rows_ += rows;
  if (partial_rows_ < settings_.batch_rows) return std::nullopt;
  return whole_batch();
}

// If batch_of() throws, the rows stay in `partial_` and become a batch when the consumer asks
// again.
LoadedBatch StreamCore::whole_batch() {
  LoadedBatch batch = batch_of(partial_rows_, partial_);
  partial_rows_ = 0;
  partial_.reset();
  return batch;
}

LoadedBatch StreamCore::last_batch() {
  if (partial_rows_ > 0 && !settings_.drop_last) return whole_batch();
  dropped_ += std::exchange(partial_rows_, 0);
  return {{}, {}, true, dropped_};
}

LoadedBatch StreamCore::batch_of(std::int64_t rows,
                                 std::shared_ptr<const BatchBuffer> buffer) const {
  return {tensors_of(fields_, rows, std::move(buffer)), {}, false, dropped_};
}

}  // namespace penstock::actors
