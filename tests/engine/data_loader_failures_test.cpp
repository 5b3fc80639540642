// These tests check what a loader makes of exceptions that the code of a dataset throws.
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/error.hpp"
#include "tests/engine/kinds_of_loaders.hpp"

namespace penstock {
namespace {

using testing::all_eight;
using testing::all_loader_kinds;
using testing::eight_samples;
using testing::LoaderKind;
using testing::rest_of_eight;

struct Speechless : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

struct ThrownInTheMiddle {
  std::function<void()> action;
  Errc code;
  std::string text;
};

const std::vector<ThrownInTheMiddle> exceptions{
    {[] { throw std::runtime_error("bad sector"); }, Errc::invalid_data, "bad sector"},
    {[] { throw Error(Errc::io_error, "disk is gone"); }, Errc::invalid_data, "disk is gone"},
    {[] { throw Error(Errc::cancelled, "enough"); }, Errc::invalid_data, "enough"},
    {[] { throw 7; }, Errc::invalid_data, "an exception that is no std::exception"},
    {[] { throw Speechless(); }, Errc::invalid_data, "an exception without a text"},
    {[] { throw std::bad_alloc(); }, Errc::out_of_memory, "not enough memory"},
    {[] { throw std::bad_array_new_length(); }, Errc::out_of_memory, "not enough memory"},
    {[] { throw Error(Errc::out_of_memory, "no room for a page"); }, Errc::out_of_memory,
     "no room for a page"}};

/// Returns the Error that ends the epoch, or an Error with an empty text if none does.
Error end_of_epoch(DataLoader& loader) try {
  rest_of_eight(loader);
  return {Errc::internal, ""};
} catch (const Error& error) {
  return error;
}

TEST(DataLoaderFailures, OfADatasetHaveItsTextAndComeAgainUntilTheNextEpoch) {
  for (const LoaderKind& kind : all_loader_kinds)
    for (const ThrownInTheMiddle& thrown : exceptions) {
      std::atomic<bool> broken{true};
      DataLoader loader = eight_samples(kind,
                                        [&](std::int64_t sample, const std::stop_token&) {
                                          if (broken && sample == 2) thrown.action();
                                        },
                                        {.timeout_seconds = 20});
      for (int again = 0; again < 2; ++again) {
        const Error error = end_of_epoch(loader);
        EXPECT_EQ(to_string(error.code()), to_string(thrown.code)) << kind.name;
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with("data loader: reading sample 2 ")) << kind.name << text;
        EXPECT_TRUE(text.ends_with(" failed: " + thrown.text)) << text;
      }
      broken = false;
      loader.start_epoch();
      EXPECT_EQ(rest_of_eight(loader), all_eight(kind)) << kind.name;
    }
}

TEST(DataLoaderFailures, HaveOneLineOfBoundedLengthWhateverTheDatasetSays) {
  const std::string endless = "first line\n\x1b[2J" + std::string(3'000'000, 'x');
  for (const LoaderKind& kind : all_loader_kinds) {
    DataLoader loader = eight_samples(
        kind, [&](std::int64_t, const std::stop_token&) { throw std::runtime_error(endless); });
    const std::string text = end_of_epoch(loader).what();
    EXPECT_LT(text.size(), 5000U) << kind.name;
    EXPECT_NE(text.find("first line??[2Jxxx"), std::string::npos) << kind.name << text;
  }
}

TEST(DataLoaderFailures, OfASamplerReachTheHostAsTheyAre) {
  bool broken = false;
  DataLoader loader(std::make_shared<testing::NumberedSamples>(2), 2,
                    {.sampler = [&](std::uint64_t) -> std::vector<std::int64_t> {
                      if (broken) throw Speechless();
                      return {1, 0};
                    }});
  EXPECT_TRUE(loader.next());
  broken = true;
  EXPECT_THROW(loader.start_epoch(), Speechless);
  broken = false;
  loader.start_epoch();
  EXPECT_TRUE(loader.next());
}

}  // namespace
}  // namespace penstock
