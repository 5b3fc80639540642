// These functions say how many threads this process has, and whether one of them waits.
#pragma once

#include <cstddef>
#include <string>

namespace penstock::testing {

std::size_t thread_count();
/// Waits until the process has at most `count` threads. Returns false if the process has more
/// threads after ten seconds.
bool threads_fall_to(std::size_t count);

/// Waits until at most `count` threads of the process have the name `name`. Returns false if more
/// of them have it after twenty seconds.
bool threads_named_fall_to(const std::string& name, int count);

/// Returns the number by which the operating system knows the calling thread.
int thread_number();
/// Returns whether thread number `thread` comes to wait for something within twenty seconds.
bool comes_to_wait(int thread);

}  // namespace penstock::testing
