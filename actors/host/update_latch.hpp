// An UpdateLatch knows whether an update of the weights is under way, and whether updates may
// begin. All stages finish an update that has begun, whatever fails meanwhile, so that the weights
// of all stages have had the same updates. Any thread may use an UpdateLatch.
#pragma once

#include <condition_variable>
#include <mutex>

namespace penstock::actors {

class UpdateLatch {
 public:
  /// Begins an update, unless close() was called. Returns whether it has begun.
  bool begin();
  /// Ends the update that has begun: all stages of all replicas have the new weights.
  void end();
  /// Lets no further update begin.
  void close() noexcept;
  /// Notes that nobody should wait any longer for the end of the update that is under way, if there
  /// is one. Each stage knows by itself whether its weights are complete.
  void cut() noexcept;
  /// Returns whether an update has begun and not ended.
  bool under_way() const;
  /// If an update is under way for which cut() was not called, waits at most `limit_seconds` for
  /// its end. Returns whether no such update is left.
  bool await_end(double limit_seconds);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool under_way_ = false;
  bool cut_ = false;  // If this is true, cut() was called for the update that is under way.
  bool closed_ = false;
};

}  // namespace penstock::actors
