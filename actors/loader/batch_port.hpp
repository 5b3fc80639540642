// At a BatchPort, a loader's actor gives its consumer the batches that it asks for, one at a time,
// and says that it has ended. The consumer's thread waits; any thread gives.
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
  /// Forgets what the consumer asked for before, and what it was given for that. Returns the number
  /// under which it may ask again.
  std::uint64_t open() noexcept;
  /// Gives the consumer `batch`, which it asked for under `number`, unless it has asked again
  /// since.
  void give(std::uint64_t number, LoadedBatch batch) noexcept;
  /// Says that the loader's actor has begun to work.
  void begin() noexcept;
  /// Says that the loader's actor has ended: nothing more will be given.
  void end() noexcept;

  /// Waits until the loader's actor has begun.
  /// @throws Error out_of_memory if it has ended, since there was no memory for it.
  void await_begin();
  /// Waits for the batch that was asked for last. Returns nothing after `limit`, or once `stop` is
  /// requested; a batch that is there is returned nevertheless.
  /// @throws Error closed if the loader's actor has ended.
  std::optional<LoadedBatch> wait(std::chrono::nanoseconds limit, const std::stop_token& stop);
  /// Returns the batch that was asked for last if it is there, and does not wait.
  std::optional<LoadedBatch> take() noexcept;

 private:
  std::optional<LoadedBatch> taken() noexcept;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t number_ = 0;  // Is the number of the last question.
  std::optional<LoadedBatch> batch_;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace penstock::actors
