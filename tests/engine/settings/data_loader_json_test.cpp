#include "penstock/data_loader_json.hpp"

#include <limits>
#include <sstream>

#include "tests/engine/settings/all_differ.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::expect_all_differ;
using testing::refusal;

auto fields(const Partition& partition) {
  const auto& [index, count] = partition;
  return std::tie(index, count);
}

/// Returns all fields except the partition and the functions, which have no text.
auto fields(const DataLoaderOptions& options) {
  const auto& [shuffle, drop_last, mode, workers, buffered, seed, timeout, stop, sampler, partition,
               log, events] = options;
  static_cast<void>(sampler);
  static_cast<void>(log);
  return std::tie(shuffle, drop_last, mode, workers, buffered, seed, timeout, stop, events);
}

void expect_equal(const DataLoaderOptions& left, const DataLoaderOptions& right) {
  EXPECT_EQ(fields(left), fields(right));
  EXPECT_EQ(fields(left.partition), fields(right.partition));
}

const DataLoaderOptions changed_loader{.shuffle = true,
                                       .drop_last = false,
                                       .mode = LoaderMode::rebatched,
                                       .workers = 7,
                                       .buffered = 9,
                                       .seed = std::numeric_limits<std::uint64_t>::max(),
                                       .timeout_seconds = 0.5,
                                       .stop_seconds = 0.25,
                                       .partition = {.index = 1, .count = 3},
                                       .trace_events = 11};

TEST(DataLoaderJson, D1_EveryFieldComesBackAsItWas) {
  expect_all_differ(fields(changed_loader), fields(DataLoaderOptions{}));
  expect_all_differ(fields(changed_loader.partition), fields(Partition{}));
  expect_equal(data_loader_options_from_json(to_json(changed_loader)), changed_loader);
  expect_equal(data_loader_options_from_json(to_json(DataLoaderOptions{}), changed_loader),
               DataLoaderOptions{});
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async, LoaderMode::rebatched})
    EXPECT_EQ(data_loader_options_from_json(to_json(DataLoaderOptions{.mode = mode})).mode, mode);
}

TEST(DataLoaderJson, D1_IsPrintedAGroupAtATime) {
  std::ostringstream stream;
  stream << DataLoaderOptions{};
  EXPECT_EQ(stream.str(), R"({
  "shuffle": false,
  "drop_last": true,
  "mode": "async",
  "workers": 2,
  "buffered": 3,
  "seed": null,
  "timeout_seconds": 60,
  "stop_seconds": 10,
  "partition": {
    "index": 0,
    "count": 1
  },
  "trace_events": 0
})");
}

TEST(DataLoaderJson, C5_ALaterTextChangesOnlyTheFieldsThatItNames) {
  DataLoaderOptions expected = changed_loader;
  expected.workers = 0;
  expected.partition.index = 2;
  expect_equal(
      data_loader_options_from_json(R"({"workers": 0, "partition": {"index": 2}})", changed_loader),
      expected);
}

TEST(DataLoaderJson, KeepsTheHostsSampler) {
  DataLoaderOptions base;
  base.sampler = [](std::uint64_t epoch) { return std::vector{static_cast<std::int64_t>(epoch)}; };
  EXPECT_EQ(data_loader_options_from_json(R"({"workers": 0})", base).sampler(3),
            std::vector<std::int64_t>{3});
}

TEST(DataLoaderJson, D1_RefusesByLineAndName) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "line 1: data_loader: expected an object, got 1"},
      {"{\n\"worker\": 1}",
       "line 2: data_loader: \"worker\" is none of its fields shuffle, drop_last, mode, workers, "
       "buffered, seed, timeout_seconds, stop_seconds, partition, trace_events; did you mean "
       "\"workers\"?"},
      {"{\n\"sampler\": null}", "line 2: data_loader: \"sampler\" is none of its fields"},
      {"{\n\"mode\": \"asynchronous\"}",
       "line 2: data_loader.mode: expected one of sync, async, rebatched, got \"asynchronous\""},
      {"{\n\"workers\": 1025}", "line 2: data_loader.workers: expected 0 to 1024, got 1025"},
      {"{\n\"buffered\": 0}", "line 2: data_loader.buffered: expected 1 to 1024, got 0"},
      {"{\n\"seed\": -1}", "line 2: data_loader.seed: expected a whole number from 0"},
      {"{\"timeout_seconds\":\n0}",
       "line 2: data_loader.timeout_seconds: expected more than 0 and at most 1000000000, got 0"},
      {"{\"partition\": {\n\"index\": 1}}",
       "line 2: data_loader.partition.index: expected 0 to 0, got 1"},
      {"{\"shuffle\": true,\n\"partition\": {\"count\": 2}}",
       "data_loader.seed: expected one that all partitions share, since they shuffle, "
       "got none"},
  };
  for (const auto& [json, expected] : cases) {
    const std::string text =
        refusal(Errc::invalid_argument, [json = json] { data_loader_options_from_json(json); });
    EXPECT_EQ(text.substr(0, std::string(expected).size()), expected) << text;
  }
}

}  // namespace
}  // namespace penstock
