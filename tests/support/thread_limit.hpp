// With a ThreadLimit, the system allows the process only so many more threads.
#pragma once

namespace penstock::testing {

/// While it lives, a thread can be started only if that leaves no more than `more` threads beside
/// those that ran at its construction. One at a time.
class ThreadLimit {
 public:
  explicit ThreadLimit(int more);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
};

}  // namespace penstock::testing
