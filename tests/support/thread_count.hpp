// These functions say how many threads this process has, and whether one of them waits.
#pragma once

#include <cstddef>

namespace penstock::testing {

std::size_t thread_count();
/// Waits until the process has at most `count` threads. Returns false if it has more after ten
/// seconds.
bool threads_fall_to(std::size_t count);

/// Returns the system's number of the calling thread.
int thread_number();
/// Returns whether the thread of number `thread` comes to wait for something within twenty seconds.
bool comes_to_wait(int thread);

}  // namespace penstock::testing
