// A BatchConsumer takes an epoch's batches at a loader's port, one after the other, without
// waiting.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "actors/loader/batch_port.hpp"
#include "actors/loader/loader_messages.hpp"

namespace penstock::testing {

/// A BatchConsumer takes batches of samples that have one field with one `Number`.
template <class Number>
class BatchConsumer {
 public:
  /// Makes a consumer that takes up to `count` batches of each epoch from `port`, and asks for each
  /// of them by `send`.
  BatchConsumer(actors::BatchPort& port, std::int64_t count,
                std::function<void(const actors::TakeBatch&)> send)
      : port_(port), count_(count), send_(std::move(send)) {}

  void begin_epoch() {
    batches.clear();
    dropped = -1;
    failure.reset();
    ask();
  }

  /// Takes the batch that is at the port, if there is one, and asks for the next batch.
  void look() {
    std::optional<actors::LoadedBatch> loaded = port_.take();
    if (!loaded) return;
    failure = loaded->failure;
    if (loaded->ended) dropped = loaded->dropped;
    if (failure || loaded->ended) return;
    const auto values = loaded->tensors.at(0).template as<Number>();
    batches.emplace_back(values.begin(), values.end());
    ask();
  }

  // `batches`, `dropped` and `failure` belong to the epoch that has begun last.
  std::vector<std::vector<Number>> batches = {};
  // This many samples were dropped. It is -1 before the epoch has ended.
  std::int64_t dropped = -1;
  std::optional<actors::LoadFailure> failure = {};

 private:
  void ask() {
    const auto next = static_cast<std::int64_t>(batches.size());
    if (next < count_) send_({next, port_.open()});
  }

  actors::BatchPort& port_;
  const std::int64_t count_;
  const std::function<void(const actors::TakeBatch&)> send_;
};

}  // namespace penstock::testing
