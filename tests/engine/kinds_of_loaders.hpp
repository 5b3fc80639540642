// These are loaders of every kind over the same eight samples. A test can hold up their reads or
// make them fail.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/error.hpp"
#include "tests/support/numbered_samples.hpp"
#include "tests/support/numbered_streams.hpp"

namespace penstock::testing {

struct LoaderKind {
  std::string name;
  bool streams = false;
  LoaderMode mode = LoaderMode::async;
  int workers = 1;
};

inline const std::vector<LoaderKind> all_loader_kinds{
    {"samples, async", false, LoaderMode::async, 1},
    {"samples, async, two workers", false, LoaderMode::async, 2},
    {"samples, sync", false, LoaderMode::sync, 1},
    {"samples, sync, no workers", false, LoaderMode::sync, 0},
    {"samples, async, no workers", false, LoaderMode::async, 0},
    {"streams, async", true, LoaderMode::async, 1},
    {"streams, async, two workers", true, LoaderMode::async, 2},
    {"streams, sync, no workers", true, LoaderMode::sync, 0},
    {"streams, rebatched, two workers", true, LoaderMode::rebatched, 2}};

/// A dataset calls its BeforeRead before it writes a sample.
using BeforeRead = std::function<void(std::int64_t sample, const std::stop_token& stop)>;

/// Returns a loader of batches of two of the samples 0 to 7. `before` is called before each sample
/// is read, and `gone` when the dataset is destroyed.
inline DataLoader eight_samples(
    const LoaderKind& kind, const BeforeRead& before, DataLoaderOptions options = {},
    const std::function<void()>& gone = [] {}) {
  options.mode = kind.mode;
  options.workers = kind.workers;
  const auto end = [gone](auto* dataset) {
    delete dataset;
    gone();
  };
  if (!kind.streams) {
    auto dataset = std::shared_ptr<NumberedSamples>(new NumberedSamples(8), end);
    dataset->before_request = [before](const SampleRequest& request) {
      before(request.index, request.stop);
    };
    return {std::move(dataset), 2, options};
  }
  auto dataset = std::shared_ptr<NumberedStreams>(new NumberedStreams(8), end);
  dataset->before_next = before;
  return {std::move(dataset), 2, options};
}

/// Returns the numbers of the samples that the epoch still has.
inline std::vector<std::int64_t> rest_of_eight(DataLoader& loader) {
  std::vector<std::int64_t> numbers;
  while (const auto batch = loader.next()) {
    const auto labels = batch->back().as<std::int64_t>();
    numbers.insert(numbers.end(), labels.begin(), labels.end());
  }
  return numbers;
}

/// Returns the numbers of the samples that the epoch still has, from a loader that may be slow: a
/// stall is no failure.
inline std::vector<std::int64_t> patient_rest_of_eight(DataLoader& loader) {
  std::vector<std::int64_t> numbers;
  for (;;) try {
      const auto batch = loader.next();
      if (!batch) return numbers;
      const auto labels = batch->back().as<std::int64_t>();
      numbers.insert(numbers.end(), labels.begin(), labels.end());
    } catch (const Error& error) {
      if (error.code() != Errc::stalled) throw;
    }
}

/// Returns the numbers of a whole epoch's samples, in the order of this kind of loader.
inline std::vector<std::int64_t> all_eight(const LoaderKind& kind) {
  if (!kind.streams || kind.workers < 2) return {0, 1, 2, 3, 4, 5, 6, 7};
  if (kind.mode == LoaderMode::rebatched) return {0, 4, 1, 5, 2, 6, 3, 7};
  return {0, 1, 4, 5, 2, 3, 6, 7};
}

/// A HeldRead holds the first read of a dataset until let_go() is called. All other reads end at
/// once. The dataset shares the state of the HeldRead, and so may outlive the test.
class HeldRead {
 public:
  /// Returns the function that the dataset has to call before each read. If `stops` is true, the
  /// read that is held also ends, with an exception, when it is asked to stop.
  BeforeRead before(bool stops) const {
    return [state = state_, stops](std::int64_t, const std::stop_token& stop) {
      std::unique_lock lock(state->mutex);
      if (state->begun) return;
      state->begun = true;
      state->changed.notify_all();
      const auto is_let_go = [&] { return state->let_go; };
      if (stops)
        state->changed.wait(lock, stop, is_let_go);
      else
        state->changed.wait(lock, is_let_go);
      if (!state->let_go) throw std::runtime_error("asked to stop");
    };
  }
  void await_begin() const {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->begun; });
  }
  void let_go() const {
    const std::lock_guard lock(state_->mutex);
    state_->let_go = true;
    state_->changed.notify_all();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool begun = false;
    bool let_go = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace penstock::testing
