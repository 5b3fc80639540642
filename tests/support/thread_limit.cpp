#include "tests/support/thread_limit.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <limits>
#include <memory>
#include <new>

namespace penstock::testing {
namespace {

constexpr int none = std::numeric_limits<int>::max();

std::atomic<int> limit{none};
// This counts the running threads that the pthread_create() of this file has started. The operating
// system's list of threads cannot be used, because it has a thread for a moment even after the
// thread was joined.
std::atomic<int> running{0};

struct Start {
  void* (*body)(void*);
  void* argument;
};

void* run(void* start) {
  const std::unique_ptr<Start> thread_start(static_cast<Start*>(start));
  void* const result = thread_start->body(thread_start->argument);
  --running;
  return result;
}

}  // namespace

ThreadLimit::ThreadLimit(int more) {
  limit = running + more;
}

ThreadLimit::~ThreadLimit() {
  limit = none;
}

}  // namespace penstock::testing

// This function replaces the C library's pthread_create() in the whole test program.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) {
  namespace testing = penstock::testing;
  using Function = decltype(&pthread_create);
  static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  if (++testing::running > testing::limit) {
    --testing::running;
    return EAGAIN;
  }
  std::unique_ptr<testing::Start> start(new (std::nothrow) testing::Start{body, argument});
  const int error = start ? original(thread, attributes, testing::run, start.get()) : EAGAIN;
  if (error)
    --testing::running;
  else
    start.release();
  return error;
}
