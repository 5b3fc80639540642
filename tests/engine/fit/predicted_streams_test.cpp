// These tests check predictions for the samples of streams: their order, their last batch, and what
// happens if a prediction ends in the middle of a stream.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/fit.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/numbered_streams.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/thread_count.hpp"

namespace penstock::testing {
namespace {

using Outputs = std::vector<float>;

/// Returns a model whose output is twice the input, a number of i64.
Model doubling() {
  Model model("doubling");
  model.output("double", model.to_float(model.input("number", {}, DType::i64), 2));
  return model;
}

InferenceModel doubling_server() {
  return {doubling(), {.batch_size = 2, .device_iterations = 2}};
}

std::shared_ptr<NumberedStreams> stream_of(std::int64_t count, bool says_size = false) {
  return std::make_shared<NumberedStreams>(count, says_size);
}

DataLoader read_by_one(std::shared_ptr<const IterableDataset> dataset, std::int64_t rows) {
  return {std::move(dataset), rows, {.drop_last = false, .workers = 1}};
}

Outputs numbers_in(const std::vector<NamedTensor>& outputs) {
  const auto numbers = outputs[0].tensor.as<float>();
  return {numbers.begin(), numbers.end()};
}

/// Returns 0, 2, 4, ... with `count` elements, from element `begin` on.
Outputs doubled(std::int64_t count, std::int64_t begin = 0) {
  Outputs numbers;
  for (std::int64_t i = begin; i < count; ++i) numbers.push_back(static_cast<float>(2 * i));
  return numbers;
}

TEST(PredictedStreams, ComeInTheirOrderWithAShorterLastRun) {
  InferenceModel model = doubling_server();
  for (const bool says_size : {true, false})
    for (const std::int64_t count : {1, 4, 6, 7, 8, 21})
      EXPECT_EQ(numbers_in(predict(model, stream_of(count, says_size))), doubled(count)) << count;
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { predict(model, stream_of(0)); }),
            "data loader: the dataset is empty");
}

TEST(PredictedStreams, AreHandedOutBatchByBatch) {
  InferenceModel model = doubling_server();
  for (const std::int64_t rows : {3, 4, 10}) {
    DataLoader data = read_by_one(stream_of(11), rows);
    for (int epoch = 0; epoch < 2; ++epoch) {
      Outputs all;
      std::vector<std::size_t> sizes;
      const std::int64_t samples = predict_batches(model, data, [&](const auto& outputs) {
        EXPECT_EQ(outputs[0].name, "double");
        const Outputs batch = numbers_in(outputs);
        sizes.push_back(batch.size());
        all.insert(all.end(), batch.begin(), batch.end());
        return Next::go_on;
      });
      EXPECT_EQ(samples, 11);
      EXPECT_EQ(all, doubled(11));
      EXPECT_EQ(sizes.size(), static_cast<std::size_t>((11 + rows - 1) / rows));
      EXPECT_EQ(sizes.back(), static_cast<std::size_t>(11 % rows == 0 ? rows : 11 % rows));
    }
  }
}

TEST(PredictedStreams, OfSeveralWorkersLoseNoSample) {
  InferenceModel model = doubling_server();
  for (const LoaderMode mode : {LoaderMode::sync, LoaderMode::async, LoaderMode::rebatched}) {
    DataLoader data(stream_of(25), 4, {.drop_last = false, .mode = mode, .workers = 3});
    Outputs all = numbers_in(predict(model, data));
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, doubled(25)) << to_string(mode);
  }
}

// The stream has more samples than any memory could hold predictions of.
TEST(PredictedStreams, EndWhereTheHostStopsThem) {
  InferenceModel model = doubling_server();
  DataLoader data = read_by_one(stream_of(std::int64_t{1} << 50), 6);
  for (int epoch = 0; epoch < 2; ++epoch) {
    Outputs all;
    const std::int64_t samples = predict_batches(model, data, [&](const auto& outputs) {
      const Outputs batch = numbers_in(outputs);
      all.insert(all.end(), batch.begin(), batch.end());
      return all.size() == 18 ? Next::stop : Next::go_on;
    });
    EXPECT_EQ(samples, 18);
    EXPECT_EQ(all, doubled(18));
  }
}

/// A HeldStreams has streams of numbers of which the one at `held` does not come until somebody
/// asks for a stop.
struct HeldStreams {
  explicit HeldStreams(std::int64_t held) {
    dataset->before_next = [held, begun = begun](std::int64_t sample, const std::stop_token& stop) {
      if (sample != held) return;
      begun.open();
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      never.wait(lock, stop, [] { return false; });
      throw std::runtime_error("stopped");
    };
  }
  std::shared_ptr<NumberedStreams> dataset = stream_of(100);
  Latch begun;
};

TEST(PredictedStreams, AreTornDownWhileASampleIsAwaited) {
  const std::size_t threads = thread_count();
  {
    InferenceModel model = doubling_server();
    Outputs all;
    {
      const HeldStreams held(9);
      DataLoader data = read_by_one(held.dataset, 4);
      std::stop_source source;
      std::thread stopper([&] {
        held.begun.wait();
        source.request_stop();
      });
      EXPECT_NE(refusal(Errc::cancelled,
                        [&] {
                          predict_batches(
                              model, data,
                              [&](const auto& outputs) {
                                const Outputs batch = numbers_in(outputs);
                                all.insert(all.end(), batch.begin(), batch.end());
                                return Next::go_on;
                              },
                              source.get_token());
                        }),
                "accepted");
      stopper.join();
      EXPECT_EQ(data.close().threads_left, 0);
    }
    EXPECT_EQ(all, doubled(static_cast<std::int64_t>(all.size())));
    EXPECT_EQ(numbers_in(predict(model, stream_of(5))), doubled(5));
  }
  EXPECT_TRUE(threads_fall_to(threads));
}

TEST(PredictedStreams, GoOnIfTheHostDestroysTheModel) {
  const std::size_t threads = thread_count();
  {
    std::optional<InferenceModel> model(doubling_server());
    DataLoader data = read_by_one(stream_of(11), 4);
    Outputs all;
    predict_batches(*model, data, [&](const auto& outputs) {
      model.reset();
      const Outputs batch = numbers_in(outputs);
      all.insert(all.end(), batch.begin(), batch.end());
      return Next::go_on;
    });
    EXPECT_EQ(all, doubled(11));
  }
  EXPECT_TRUE(threads_fall_to(threads));
}

/// A Destroying is a dataset of numbers that calls `end` when its size is asked for.
class Destroying : public NumberedStreams {
 public:
  Destroying(std::int64_t count, std::function<void()> end)
      : NumberedStreams(count), end_(std::move(end)) {}
  std::optional<std::int64_t> size() const override {
    end_();
    return NumberedStreams::size();
  }

 private:
  std::function<void()> end_;
};

TEST(PredictedStreams, GoOnIfTheDatasetDestroysTheModel) {
  const std::size_t threads = thread_count();
  {
    std::optional<InferenceModel> model(doubling_server());
    const auto dataset = std::make_shared<Destroying>(11, [&] { model.reset(); });
    EXPECT_EQ(numbers_in(predict(*model, dataset)), doubled(11));
    EXPECT_FALSE(model);
  }
  EXPECT_TRUE(threads_fall_to(threads));
}

TEST(PredictedStreams, NeedAFunctionThatTakesThem) {
  InferenceModel model = doubling_server();
  const auto dataset = stream_of(11);
  int read = 0;
  dataset->before_read = [&](std::int64_t) { ++read; };
  DataLoader data(dataset, 4, {.drop_last = false, .mode = LoaderMode::sync, .workers = 0});
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { predict_batches(model, data, {}); }),
            "predict_batches: expected a function that takes the outputs of a batch and returns "
            "Next::go_on or Next::stop, got an empty on_outputs");
  EXPECT_EQ(read, 0);
  EXPECT_EQ(numbers_in(predict(model, data)), doubled(11));
}

TEST(PredictedStreams, PassOnWhatGoesWrong) {
  InferenceModel model = doubling_server();
  DataLoader data = read_by_one(stream_of(11), 4);
  EXPECT_THROW(predict_batches(model, data,
                               [](const auto&) -> Next { throw std::runtime_error("the host's"); }),
               std::runtime_error);
  const auto broken = stream_of(11);
  broken->before_read = [](std::int64_t sample) {
    if (sample == 6) throw std::runtime_error("no line");
  };
  DataLoader breaking = read_by_one(broken, 4);
  Outputs all;
  EXPECT_NE(refusal(Errc::invalid_data,
                    [&] {
                      predict_batches(model, breaking, [&](const auto& outputs) {
                        all = numbers_in(outputs);
                        return Next::go_on;
                      });
                    })
                .find("no line"),
            std::string::npos);
  EXPECT_EQ(all, doubled(4));
  EXPECT_EQ(numbers_in(predict(model, data)), doubled(11));
}

}  // namespace
}  // namespace penstock::testing
