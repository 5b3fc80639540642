// With a ThreadLimit, a process can start only a limited number of further threads.
#pragma once

namespace penstock::testing {

/// While such an object lives, there can be at most `more` threads more than at its construction:
/// pthread_create() refuses to start another one. There is at most one such object at a time.
class ThreadLimit {
 public:
  explicit ThreadLimit(int more);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
};

}  // namespace penstock::testing
