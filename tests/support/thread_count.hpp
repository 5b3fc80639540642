// How many threads this process has.
#pragma once

#include <cstddef>

namespace penstock::testing {

std::size_t thread_count();
/// Waits until there are no more than `count`; false if there still are after ten seconds.
bool threads_fall_to(std::size_t count);

}  // namespace penstock::testing
