#include "actors/system/owning_process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

std::atomic<std::uint64_t> forks = 0;

/// `counts_forks` is true if the C library adds 1 to `forks` in each child that it forks.
[[maybe_unused]] const bool counts_forks =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;

}  // namespace

// The number of a process is compared as well, because not every way to fork tells the C library.
// The number alone would not do: the first process of any container has the number 1.
OwningProcess::OwningProcess() noexcept : id_(::getpid()), forks_(forks) {}

bool OwningProcess::is_current() const noexcept {
  return id_ == ::getpid() && forks_ == forks.load(std::memory_order_relaxed);
}

void OwningProcess::expect_current(std::string_view subject) const {
  if (is_current()) return;
  throw Error(Errc::closed, std::string(subject) +
                                " belongs to the process that made it, from which this one was "
                                "forked; make a new one here");
}

}  // namespace penstock::actors
