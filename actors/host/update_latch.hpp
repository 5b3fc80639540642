// UpdateLatch knows whether an update of the weights is under way, and whether updates may begin.
// An update that has begun is finished by all stages whatever fails meanwhile, so that the weights
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
  /// Lets no update begin any more.
  void close() noexcept;
  /// Notes that nobody is to wait any more for the end of the update that is under way. Each stage
  /// knows by itself whether the update has left its weights whole.
  void cut() noexcept;
  /// Returns whether an update has begun and not ended.
  bool under_way() const;
  /// Waits at most `limit_seconds` for the end of an update that is under way and not cut. Returns
  /// whether no such update is left.
  bool await_end(double limit_seconds);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool under_way_ = false;
  bool cut_ = false;  // Says whether the update that is under way was cut.
  bool closed_ = false;
};

}  // namespace penstock::actors
