// Loaders of samples so large that no machine has memory for a batch of them.

#include <gtest/gtest.h>

#include "penstock/data_loader.hpp"
#include "tests/support/refusal.hpp"

// AddressSanitizer would end the process where new (nothrow) has to return null.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace penstock {
namespace {

const std::vector<Field> huge_fields{{"v", DType::f32, {std::int64_t{1} << 44}}};

struct HugeSamples : Dataset {
  std::int64_t size() const override { return 10; }
  const std::vector<Field>& fields() const override { return huge_fields; }
  void read(const SampleRequest&, std::span<std::byte* const>) const override {}
};

struct HugeStreams : IterableDataset {
  struct Stream : SampleStream {
    bool next(std::span<std::byte* const>, const std::stop_token&) override { return true; }
  };
  const std::vector<Field>& fields() const override { return huge_fields; }
  std::unique_ptr<SampleStream> begin(const WorkerShare&) const override {
    return std::make_unique<Stream>();
  }
};

/// Again and again, and in the next epoch too: the loader itself is well.
void expect_refused(DataLoader loader) {
  for (int time = 0; time < 4; ++time) {
    if (time == 2) loader.start_epoch();
    EXPECT_TRUE(testing::refusal(Errc::out_of_memory, [&] {
                  loader.next();
                }).starts_with("data loader: a batch: no memory for a tensor of "));
  }
}

TEST(DataLoaderMemory, ThatIsNotThereIsRefusedInEveryMode) {
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async, LoaderMode::rebatched})
    for (const int workers : {0, 2}) {
      const DataLoaderOptions options{.mode = mode, .workers = workers, .timeout_seconds = 10};
      expect_refused(DataLoader(std::make_shared<HugeSamples>(), 2, options));
      expect_refused(DataLoader(std::make_shared<HugeStreams>(), 2, options));
    }
}

}  // namespace
}  // namespace penstock
