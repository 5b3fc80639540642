// Through a BatchPort, a loader's actor gives its consumer the batches that the consumer asks for,
// one at a time, and says when the actor has begun and ended. The consumer's thread waits at the
// port; any thread may call the functions that do not wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>

#include "actors/loader/loader_batch.hpp"

namespace penstock::actors {

class BatchPort {
 public:
  /// Forgets the consumer's last question and the batch that was given in answer. Returns the
  /// number for the consumer's next question.
  std::uint64_t open() noexcept;
  /// Gives the consumer `batch` in answer to question number `number`, unless the consumer has
  /// asked again since.
  void give(std::uint64_t number, LoadedBatch batch) noexcept;
  /// Notes that the loader's actor has begun to work.
  void begin() noexcept;
  /// Notes that the loader's actor has ended and will give nothing more.
  void end() noexcept;

  /// Waits until the loader's actor has begun.
  /// @throws Error out_of_memory if the actor has ended instead, for lack of memory.
  void await_begin();
  /// Waits for the batch that was asked for last. Returns nothing after `limit`, or once `stop` is
  /// requested, unless the batch has been given by then.
  /// @throws Error closed if the loader's actor has ended.
  std::optional<LoadedBatch> wait(std::chrono::nanoseconds limit, const std::stop_token& stop);
  /// Returns the batch that was asked for last, or nothing if it has not been given yet. Does not
  /// wait.
  std::optional<LoadedBatch> take() noexcept;

 private:
  std::optional<LoadedBatch> taken() noexcept;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t number_ = 0;  // This is the number of the last question.
  std::optional<LoadedBatch> batch_;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace penstock::actors
