#include "tests/support/numbered_streams.hpp"

#include <cstring>

namespace penstock::testing {
namespace {

class Numbers : public SampleStream {
 public:
  Numbers(std::int64_t begin, std::int64_t end, const NumberedStreams& dataset)
      : next_(begin),
        end_(end),
        before_read_(dataset.before_read),
        before_next_(dataset.before_next) {}

  bool next(std::span<std::byte* const> destinations, const std::stop_token& stop) override {
    if (next_ == end_) return false;
    before_read_(next_);
    before_next_(next_, stop);
    std::memcpy(destinations[0], &next_, sizeof next_);
    ++next_;
    return true;
  }

 private:
  std::int64_t next_;
  std::int64_t end_;
  std::function<void(std::int64_t)> before_read_;
  std::function<void(std::int64_t, const std::stop_token&)> before_next_;
};

}  // namespace

std::unique_ptr<SampleStream> NumberedStreams::begin(const WorkerInfo& worker) const {
  return std::make_unique<Numbers>(worker.begin(count_), worker.end(count_), *this);
}

}  // namespace penstock::testing
