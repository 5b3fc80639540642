#include <cstring>
#include <string>
#include <utility>

#include "graph/ir/random.hpp"
#include "graph/values/hosts_thread.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/number_range.hpp"
#include "penstock/composed_datasets.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// A BufferedStream draws the samples of another stream from a buffer.
class BufferedStream : public SampleStream {
 public:
  BufferedStream(std::unique_ptr<SampleStream> stream, const std::vector<Field>& fields,
                 const ShuffleBuffer& buffer, const WorkerInfo& worker)
      : stream_(std::move(stream)),
        capacity_(static_cast<std::size_t>(buffer.samples)),
        key_{.seed = buffer.seed,
             .update = worker.epoch,
             .replica = static_cast<std::uint32_t>(worker.index),
             .name = graph::hash_name("shuffle_stream")} {
    for (const Field& field : fields)
      bytes_.push_back(static_cast<std::size_t>(field.shape.elements()) * size_of(field.dtype));
  }

  bool next(std::span<std::byte* const> destinations, const std::stop_token& stop) override {
    while (stream_ && waiting_ < capacity_ && !stop.stop_requested()) take_one(stop);
    if (stop.stop_requested()) return false;
    if (waiting_ == 0) return false;
    const auto draws = graph::philox(key_, drawn_++);
    const std::uint64_t draw = std::uint64_t{draws[0]} << 32 | draws[1];
    // The slots of the samples that wait come first.
    std::swap(slots_[draw % waiting_], slots_[waiting_ - 1]);
    const Slot& slot = slots_[--waiting_];
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if (bytes_[i] != 0) std::memcpy(destinations[i], slot[i].get(), bytes_[i]);
    return true;
  }

 private:
  /// A Slot has the memory of a sample, a block for each field.
  using Slot = std::vector<std::shared_ptr<std::byte>>;

  void take_one(const std::stop_token& stop) {
    if (waiting_ == slots_.size()) slots_.push_back(new_slot());
    std::vector<std::byte*> destinations;
    for (const auto& block : slots_[waiting_]) destinations.push_back(block.get());
    if (call_host([&] { return stream_->next(destinations, stop); }))
      ++waiting_;
    else
      stream_.reset();
  }

  Slot new_slot() const {
    Slot slot;
    for (const std::size_t bytes : bytes_) slot.push_back(allocate_block(bytes));
    return slot;
  }

  std::unique_ptr<SampleStream> stream_;  ///< `stream_` is null once it has ended.
  std::size_t capacity_;
  graph::RandomKey key_;
  std::vector<std::size_t> bytes_;  ///< `bytes_` has the number of bytes of each field.
  std::vector<Slot> slots_;
  std::size_t waiting_ = 0;  ///< This many samples wait in the buffer.
  std::uint64_t drawn_ = 0;  ///< This many samples were drawn so far.
};

class ShuffledStream : public IterableDataset {
 public:
  ShuffledStream(std::shared_ptr<const IterableDataset> dataset, const ShuffleBuffer& buffer)
      : dataset_(std::move(dataset)), buffer_(buffer) {}

  const std::vector<Field>& fields() const override { return dataset_->fields(); }
  std::optional<std::int64_t> size() const override { return dataset_->size(); }
  std::unique_ptr<SampleStream> begin(const WorkerInfo& worker) const override {
    auto stream = call_host([&] { return dataset_->begin(worker); });
    if (!stream) throw Error(Errc::invalid_data, "shuffle_stream: expected a stream, got none");
    return std::make_unique<BufferedStream>(std::move(stream), dataset_->fields(), buffer_, worker);
  }

 private:
  std::shared_ptr<const IterableDataset> dataset_;
  ShuffleBuffer buffer_;
};

}  // namespace

std::shared_ptr<const IterableDataset> shuffle_stream(
    std::shared_ptr<const IterableDataset> dataset, const ShuffleBuffer& buffer) {
  return on_hosts_thread("shuffle_stream", [&]() -> std::shared_ptr<const IterableDataset> {
    if (!dataset)
      throw Error(Errc::invalid_argument, "shuffle_stream: expected a dataset, got none");
    check_number("shuffle_stream.samples", static_cast<double>(buffer.samples), {1, 1e15});
    return std::make_shared<ShuffledStream>(std::move(dataset), buffer);
  });
}

}  // namespace penstock
