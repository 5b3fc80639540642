#include "tests/support/thread_limit.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <limits>
#include <thread>

namespace penstock::testing {
namespace {

std::atomic<int> limit{std::numeric_limits<int>::max()};

int running_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

/// A thread that was joined may still be listed for a moment.
bool room_for_another() {
  if (limit == std::numeric_limits<int>::max()) return true;
  for (int look = 0; look < 50; ++look) {
    if (running_threads() < limit) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

ThreadLimit::ThreadLimit(int more) {
  limit = running_threads() + more;
}

ThreadLimit::~ThreadLimit() {
  limit = std::numeric_limits<int>::max();
}

}  // namespace penstock::testing

// Takes the place of the C library's for the whole test program.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) {
  using Function = decltype(&pthread_create);
  static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!penstock::testing::room_for_another()) return EAGAIN;
  return original(thread, attributes, body, argument);
}
