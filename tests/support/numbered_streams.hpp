// A NumberedStreams is an iterable dataset of the numbers 0 to count-1 as i64 []. Each worker reads
// a block of consecutive numbers. A test can hold up reads or make them fail.
#pragma once

#include <cstdint>
#include <functional>

#include "penstock/iterable_dataset.hpp"

namespace penstock::testing {

class NumberedStreams : public IterableDataset {
 public:
  /// Makes a dataset of `count` numbers. `says_size` says whether size() returns that number.
  explicit NumberedStreams(std::int64_t count, bool says_size = true)
      : count_(count), says_size_(says_size) {}

  /// This function is called before each sample is written, on the thread that reads.
  std::function<void(std::int64_t sample)> before_read = [](std::int64_t) {};
  /// This function is called before each sample is written, too, with the stream's stop token.
  std::function<void(std::int64_t sample, const std::stop_token& stop)> before_next =
      [](std::int64_t, const std::stop_token&) {};

  const std::vector<Field>& fields() const override { return fields_; }
  std::optional<std::int64_t> size() const override {
    return says_size_ ? std::optional(count_) : std::nullopt;
  }
  std::unique_ptr<SampleStream> begin(const WorkerInfo& worker) const override;

 private:
  std::int64_t count_;
  bool says_size_;
  std::vector<Field> fields_{{"number", DType::i64, {}}};
};

}  // namespace penstock::testing
