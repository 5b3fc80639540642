// without_memory_left() says what code does on a thread if the process gets no more memory, neither
// from the C library's allocator nor from the operating system. It must be called in a forked
// process, because the process has no memory afterwards.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "tests/support/latch.hpp"

namespace penstock::testing {

/// An Outcome says what became of code that ran without memory. It is the exit code of the code's
/// process.
enum Outcome : int { worked = 1, refused = 2, memory_is_left = 3, went_wrong = 4 };

/// Takes all memory that the process can get, so that no further allocation succeeds. Returns
/// whether no memory is left.
inline bool take_all_memory() {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // The file is read without a stream. A stream would use variables that libstdc++ keeps for each
  // thread, and would thus prepare this thread for its later work.
  char text[64] = {};
  const int file = open("/proc/self/statm", O_RDONLY);
  const bool is_read = file >= 0 && read(file, text, sizeof(text) - 1) > 0;
  close(file);
  const std::size_t pages = is_read ? std::strtoul(text, nullptr, 10) : 0;
  const rlim_t bytes = pages * page_bytes;
  const rlimit limit{bytes, bytes};
  if (pages == 0 || setrlimit(RLIMIT_AS, &limit) != 0) return false;
  while (mmap(nullptr, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
    continue;
  for (std::size_t size = page_bytes; size > 0; size /= 2)
    while (void* volatile const block = std::malloc(size)) static_cast<void>(block);
  return true;
}

/// Starts a thread, takes all memory, and calls `action` on the thread, which has never allocated.
/// Returns what `action` returns, or memory_is_left if there was memory left.
Outcome without_memory_left(const auto& action) {
  const Latch started, memory_ran_out;
  Outcome outcome = went_wrong;
  std::thread thread([&] {
    started.open();
    memory_ran_out.wait();
    outcome = action();
  });
  started.wait();
  const bool taken = take_all_memory();
  memory_ran_out.open();
  thread.join();
  return taken ? outcome : memory_is_left;
}

}  // namespace penstock::testing
