#include "tests/support/thread_count.hpp"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
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

bool threads_named_fall_to(const std::string& name, int count) {
  const auto named = [&] {
    int found = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string of_task;
      std::getline(std::ifstream(task.path() / "comm"), of_task);
      found += of_task == name;
    }
    return found;
  };
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (named() > count) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

int thread_number() {
  return static_cast<int>(::gettid());
}

bool comes_to_wait(int thread) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  while (std::chrono::steady_clock::now() < give_up) {
    std::string stat;
    std::getline(std::ifstream(path), stat);
    const auto name_end = stat.rfind(')');  // The thread's state follows its name.
    if (name_end != stat.npos && stat.substr(name_end).starts_with(") S")) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace penstock::testing
