// These say how many threads this process has, and whether one of them waits.
#pragma once

#include <cstddef>

namespace penstock::testing {

std::size_t thread_count();
/// Waits until there are no more than `count`; false if there still are after ten seconds.
bool threads_fall_to(std::size_t count);

/// The calling thread's number, and whether the thread of that number comes to wait for something
/// within twenty seconds.
int thread_number();
bool comes_to_wait(int thread);

}  // namespace penstock::testing
