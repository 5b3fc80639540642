#include "penstock/composed_datasets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/error.hpp"
#include "tests/support/numbered_streams.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::NumberedStreams;
using testing::refusal;
using Numbers = std::vector<std::int64_t>;

/// Returns a dataset of the numbers from `first` on.
std::shared_ptr<const Dataset> numbered(std::int64_t count, std::int64_t first = 0) {
  Numbers numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return tensor_dataset({Tensor({count}, std::span<const std::int64_t>(numbers))}, {"number"});
}

Numbers numbers_of(const Dataset& dataset, std::uint64_t epoch = 0) {
  Numbers numbers(static_cast<std::size_t>(dataset.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::array destinations{reinterpret_cast<std::byte*>(&numbers[i])};
    dataset.read({.index = static_cast<std::int64_t>(i), .epoch = epoch}, destinations);
  }
  return numbers;
}

TEST(SplitDatasets, HaveEachSampleOnceInAnOrderOfTheSeedAlone) {
  const auto parts = split_by_counts(numbered(100), {70, 0, 30}, {.seed = 3});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0]->size(), 70);
  EXPECT_EQ(parts[1]->size(), 0);
  EXPECT_EQ(parts[2]->size(), 30);
  EXPECT_EQ(parts[0]->fields()[0].name, "number");
  Numbers all = numbers_of(*parts[0]);
  EXPECT_FALSE(std::ranges::is_sorted(all));
  for (const std::int64_t number : numbers_of(*parts[2])) all.push_back(number);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), 100u);
  EXPECT_EQ(numbers_of(*split_by_counts(numbered(100), {30, 70}, {.seed = 3})[0]),
            Numbers(all.begin(), all.begin() + 30));
  EXPECT_NE(numbers_of(*split_by_counts(numbered(100), {70, 30}, {.seed = 4})[0]),
            Numbers(all.begin(), all.begin() + 70));
}

TEST(SplitDatasets, AreInAnotherOrderThanALoaderOfTheSameSeedVisits) {
  const Numbers divided = numbers_of(*split_by_counts(numbered(1000), {1000}, {.seed = 5})[0]);
  Numbers visited;
  DataLoader loader(numbered(1000), 1000, {.shuffle = true, .seed = 5});
  for (const std::int64_t number : (*loader.next())[0].as<std::int64_t>())
    visited.push_back(number);
  // Two orders that have nothing to do with each other agree in one place, on average.
  int same = 0;
  for (std::size_t i = 0; i < divided.size(); ++i) same += divided[i] == visited[i];
  EXPECT_LT(same, 10);
}

TEST(SplitDatasets, KeepTheOrderIfToldSo) {
  const auto parts = split_by_counts(numbered(5), {2, 3}, {.shuffle = false});
  EXPECT_EQ(numbers_of(*parts[0]), (Numbers{0, 1}));
  EXPECT_EQ(numbers_of(*parts[1]), (Numbers{2, 3, 4}));
}

TEST(SplitDatasets, ByFractionsHaveWhatPyTorchsHave) {
  const auto sizes = [](std::int64_t samples, const std::vector<double>& fractions) {
    Numbers counts;
    for (const auto& part : split_by_fractions(numbered(samples), fractions))
      counts.push_back(part->size());
    return counts;
  };
  EXPECT_EQ(sizes(10, {0.8, 0.2}), (Numbers{8, 2}));
  EXPECT_EQ(sizes(10, {0.33, 0.33, 0.34}), (Numbers{4, 3, 3}));
  EXPECT_EQ(sizes(3, {0.25, 0.25, 0.25, 0.25}), (Numbers{1, 1, 1, 0}));
  EXPECT_EQ(sizes(7, {1}), (Numbers{7}));
  EXPECT_EQ(numbers_of(*split_by_fractions(numbered(10), {0.5, 0.5}, {.shuffle = false})[1]),
            (Numbers{5, 6, 7, 8, 9}));
}

TEST(SplitDatasets, RefuseWhatMakesNoSense) {
  const auto invalid = [](auto&& call) { return refusal(Errc::invalid_argument, call); };
  EXPECT_EQ(invalid([] { split_by_counts(nullptr, {1}); }),
            "split_by_counts: expected a dataset, got none");
  EXPECT_EQ(invalid([] {
              split_by_counts(numbered(3), {-1, 4});
            }),
            "split_by_counts: expected counts of 0 or more, got -1");
  EXPECT_EQ(invalid([] {
              split_by_fractions(numbered(3), {0.5, 0.4});
            }),
            "split_by_fractions: expected fractions that add up to 1, got a sum of 0.9");
  EXPECT_EQ(invalid([] { split_by_fractions(numbered(3), {}); }),
            "split_by_fractions: expected fractions that add up to 1, got a sum of 0");
  EXPECT_EQ(invalid([] {
              split_by_fractions(numbered(3), {1.5, -0.5});
            }),
            "split_by_fractions: fraction: expected 0 to 1, got 1.5");
  for (const Numbers& counts : {Numbers{1, 1}, {2, 2}, {}, {INT64_MAX, INT64_MAX, 5}})
    EXPECT_NE(refusal(Errc::invalid_data, [&] { split_by_counts(numbered(3), counts); }),
              "accepted");
  EXPECT_EQ(refusal(Errc::invalid_data,
                    [] {
                      split_by_counts(numbered(3), {1, 1});
                    }),
            "split_by_counts: expected counts that add up to 3 samples, got 1, 1");
}

TEST(ConcatenatedDatasets, HaveTheSamplesOfEachOneBehindTheOther) {
  const auto dataset = concat_datasets({numbered(2), numbered(0), numbered(3, 10), numbered(1, 7)});
  EXPECT_EQ(dataset->size(), 6);
  EXPECT_EQ(dataset->fields()[0].name, "number");
  EXPECT_EQ(numbers_of(*dataset), (Numbers{0, 1, 10, 11, 12, 7}));
}

TEST(ConcatenatedDatasets, HaveTheSameFields) {
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [] {
                      concat_datasets({numbered(2), tensor_dataset({Tensor({1}, {1})})});
                    }),
            "concat_datasets: dataset 1: expected \"number\" i64 [], as dataset 0 has, got f32 []");
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { concat_datasets({}); }),
            "concat_datasets: expected datasets, got none");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [] {
                      concat_datasets({numbered(2), nullptr});
                    }),
            "concat_datasets: expected datasets, got a null pointer among them");
}

/// Returns the number of a sample, halved, and the sum of the number and the epoch.
std::vector<Tensor> halved(const std::vector<Tensor>& sample, const SampleRequest& request) {
  const std::int64_t number = sample[0].as<std::int64_t>()[0];
  const std::int64_t sum = number + static_cast<std::int64_t>(request.epoch);
  return {Tensor({1}, {static_cast<float>(number) / 2}),
          Tensor(Shape{}, std::span<const std::int64_t>(&sum, 1))};
}

TEST(MappedDatasets, HaveWhatTheFunctionMakesOfEachSample) {
  const auto dataset =
      map_dataset(numbered(5), {{"half", DType::f32, {1}}, {"sum", DType::i64, {}}}, halved);
  EXPECT_EQ(dataset->size(), 5);
  EXPECT_EQ(dataset->fields()[0].shape, (Shape{1}));
  float half = 0;
  std::int64_t sum = 0;
  const std::array destinations{reinterpret_cast<std::byte*>(&half),
                                reinterpret_cast<std::byte*>(&sum)};
  dataset->read({.index = 3, .epoch = 4}, destinations);
  EXPECT_EQ(half, 1.5f);
  EXPECT_EQ(sum, 7);
}

TEST(MappedDatasets, RefuseASampleOfOtherFieldsWhenItIsRead) {
  const auto reading = [](std::vector<Field> fields) {
    const auto dataset = map_dataset(numbered(5), std::move(fields), halved);
    float half = 0;
    std::int64_t sum = 0;
    const std::array destinations{reinterpret_cast<std::byte*>(&half),
                                  reinterpret_cast<std::byte*>(&sum)};
    return refusal(Errc::shape_mismatch,
                   [&] { dataset->read({.index = 3, .epoch = 4}, destinations); });
  };
  const std::string expected = "map_dataset: expected that the function returns ";
  EXPECT_EQ(reading({{"half", DType::f32, {1}}}), expected + "1 tensor, got 2");
  EXPECT_EQ(reading({{"half", DType::f32, {1}}, {"sum", DType::i64, {1}}}),
            expected + "\"sum\" i64 [1], got i64 []");
  EXPECT_EQ(reading({{"half", DType::i32, {1}}, {"sum", DType::i64, {}}}),
            expected + "\"half\" i32 [1], got f32 [1]");
}

TEST(MappedDatasets, NeedADatasetFieldsAndAFunction) {
  const auto text = [](std::shared_ptr<const Dataset> dataset, std::vector<Field> fields,
                       SampleFunction function) {
    return refusal(Errc::invalid_argument, [&] {
      map_dataset(std::move(dataset), std::move(fields), std::move(function));
    });
  };
  EXPECT_EQ(text(nullptr, {{}}, halved), "map_dataset: expected a dataset, got none");
  EXPECT_EQ(text(numbered(1), {}, halved), "map_dataset: expected fields, got none");
  EXPECT_EQ(text(numbered(1), {{}}, {}), "map_dataset: expected a function, got none");
}

/// Returns the numbers of one worker's stream.
Numbers stream_of(const IterableDataset& dataset, const WorkerInfo& worker) {
  const auto stream = dataset.begin(worker);
  Numbers numbers;
  std::int64_t number = 0;
  const std::array destinations{reinterpret_cast<std::byte*>(&number)};
  while (stream->next(destinations, {})) numbers.push_back(number);
  return numbers;
}

TEST(ShuffledStreams, HaveEachSampleOnceInAnOrderOfSeedEpochAndWorkerAlone) {
  const auto numbers = std::make_shared<NumberedStreams>(1000);
  const auto shuffled = shuffle_stream(numbers, {.samples = 100, .seed = 5});
  EXPECT_EQ(shuffled->size(), 1000);
  EXPECT_EQ(shuffled->fields()[0].name, "number");
  const Numbers first = stream_of(*shuffled, {});
  Numbers sorted = first;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, stream_of(*numbers, {}));
  EXPECT_NE(first, sorted);
  EXPECT_EQ(stream_of(*shuffle_stream(numbers, {.samples = 100, .seed = 5}), {}), first);
  EXPECT_NE(stream_of(*shuffled, {.epoch = 1}), first);
  EXPECT_NE(stream_of(*shuffle_stream(numbers, {.samples = 100, .seed = 6}), {}), first);
}

TEST(ShuffledStreams, FillTheirBufferNoFurtherOnceTheyAreStopped) {
  const auto shuffled =
      shuffle_stream(std::make_shared<NumberedStreams>(1'000'000'000), {.samples = 900'000'000});
  const std::unique_ptr<SampleStream> stream = shuffled->begin({});
  std::stop_source source;
  source.request_stop();
  std::int64_t number = 0;
  std::byte* const destinations[] = {reinterpret_cast<std::byte*>(&number)};
  EXPECT_FALSE(stream->next(destinations, source.get_token()));
}

TEST(ShuffledStreams, MoveNoSampleForwardByMoreThanTheBuffer) {
  const auto numbers = std::make_shared<NumberedStreams>(1000);
  const Numbers order = stream_of(*shuffle_stream(numbers, {.samples = 10}), {});
  std::int64_t farthest = 0, latest = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    farthest = std::max(farthest, order[static_cast<std::size_t>(i)] - i);
    latest = std::max(latest, i - order[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(farthest, 9);
  EXPECT_GT(latest, 20);
  EXPECT_EQ(stream_of(*shuffle_stream(numbers, {.samples = 1}), {}), stream_of(*numbers, {}));
}

// Each of the 24 orders of four samples is expected 100 times; five standard deviations are
// allowed.
TEST(ShuffledStreams, OfABufferThatHoldsAllHaveEveryOrderEquallyOften) {
  const auto shuffled = shuffle_stream(std::make_shared<NumberedStreams>(4), {.samples = 9});
  std::map<Numbers, int> counts;
  for (std::uint64_t epoch = 0; epoch < 2400; ++epoch)
    ++counts[stream_of(*shuffled, {.epoch = epoch})];
  EXPECT_EQ(counts.size(), 24u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 100, 50);
}

TEST(ShuffledStreams, GiveALoaderEachSampleOfEveryWorkerOnce) {
  const auto shuffled = shuffle_stream(std::make_shared<NumberedStreams>(60), {.samples = 7});
  DataLoader loader(shuffled, 10, {.mode = LoaderMode::rebatched, .workers = 3});
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::set<std::int64_t> seen;
    for (const Batch& batch : loader)
      for (const std::int64_t number : batch[0].as<std::int64_t>()) seen.insert(number);
    EXPECT_EQ(seen.size(), 60u);
  }
}

TEST(ShuffledStreams, NeedADatasetAndABuffer) {
  EXPECT_EQ(refusal(Errc::invalid_argument, [] { shuffle_stream(nullptr); }),
            "shuffle_stream: expected a dataset, got none");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [] { shuffle_stream(std::make_shared<NumberedStreams>(4), {.samples = 0}); }),
            "shuffle_stream.samples: expected 1 to 1000000000000000, got 0");
}

}  // namespace
}  // namespace penstock
