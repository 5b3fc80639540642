// These tests make loaders of samples that are so large, or so many, that no machine has memory for
// a batch of them or for their order.

#include <gtest/gtest.h>

#include "penstock/data_loader.hpp"
#include "tests/engine/numbered_batches.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/refusal.hpp"

// Without this option, AddressSanitizer would end the process if new (nothrow) has to return null.
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
  std::unique_ptr<SampleStream> begin(const WorkerInfo&) const override {
    return std::make_unique<Stream>();
  }
};

/// Expects that every call of next() is refused for want of memory, also in the next epoch. The
/// loader itself stays usable.
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

TEST(DataLoaderMemory, IsNotTakenForAnOrderThatNothingShuffles) {
  constexpr std::int64_t many = std::int64_t{1} << 56;
  // Because of this call, the program is linked with the `operator new` of the allocation counter,
  // which throws if there is no memory. AddressSanitizer's would end the process.
  const std::uint64_t allocations_before = testing::heap_allocations();
  const auto dataset = std::make_shared<testing::NumberedSamples>(many);
  const auto first_of = [](DataLoader loader) { return testing::numbers_of(*loader.next()).at(0); };
  DataLoader loader(dataset, 2);
  EXPECT_EQ(loader.batches(), many / 2);
  EXPECT_EQ(testing::numbers_of(*loader.next()), (testing::Numbers{0, 1}));
  EXPECT_EQ(testing::numbers_of(*loader.next()), (testing::Numbers{2, 3}));
  EXPECT_EQ(first_of(DataLoader(dataset, 2, {.partition = {.index = 1, .count = 4}})), many / 4);
  EXPECT_EQ(first_of(DataLoader(dataset, 1, {.mode = LoaderMode::sync})), 0);
  EXPECT_LT(testing::heap_allocations() - allocations_before, 100'000U);
}

TEST(DataLoaderMemory, ThatAShuffledOrderWouldTakeIsRefusedInEveryEpoch) {
  constexpr std::int64_t many = std::int64_t{1} << 56;
  for (const int part : {1, 2}) {
    DataLoader loader(std::make_shared<testing::NumberedSamples>(many), 2,
                      {.shuffle = true, .seed = 1, .partition = {.count = part}});
    for (int time = 0; time < 4; ++time) {
      if (time == 2) loader.start_epoch();
      EXPECT_EQ(testing::refusal(Errc::out_of_memory, [&] { loader.next(); }),
                "data loader: no memory for the shuffled order of " + std::to_string(many) +
                    " samples, which takes 8 bytes for each of them");
    }
  }
}

}  // namespace
}  // namespace penstock
