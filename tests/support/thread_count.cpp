#include "tests/support/thread_count.hpp"

#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

namespace penstock::testing {

std::size_t thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

bool threads_fall_to(std::size_t count) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (thread_count() > count) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace penstock::testing
