// A NumberedSamples is a dataset whose sample i is the number i as f32 [2] and as i64 []. A test
// can count its reads, hold them up, or make them fail.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "penstock/dataset.hpp"

namespace penstock::testing {

class NumberedSamples : public Dataset {
 public:
  explicit NumberedSamples(std::int64_t count) : count_(count) {}

  /// This function is called before each read, on the thread that reads.
  std::function<void(std::int64_t sample)> before_read = [](std::int64_t) {};
  /// This function is called before each read, too, with the whole request.
  std::function<void(const SampleRequest& request)> before_request = [](const SampleRequest&) {};
  std::int64_t reads() const noexcept { return reads_.load(); }

  std::int64_t size() const override { return count_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override;

 private:
  std::int64_t count_;
  std::vector<Field> fields_{{"number", DType::f32, {2}}, {"label", DType::i64, {}}};
  mutable std::atomic<std::int64_t> reads_{0};
};

}  // namespace penstock::testing
