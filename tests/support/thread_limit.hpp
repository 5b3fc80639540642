// While a ThreadLimit lives, the process can start only a limited number of further threads.
#pragma once

namespace penstock::testing {

/// While a ThreadLimit lives, there can be at most `more` threads more than at its construction:
/// pthread_create() refuses to start another one. There is at most one ThreadLimit at a time.
class ThreadLimit {
 public:
  explicit ThreadLimit(int more);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
};

}  // namespace penstock::testing
