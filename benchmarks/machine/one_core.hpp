// on_one_core() keeps a measurement on one core.
#pragma once

#include <functional>

namespace penstock::benchmarks {

/// Runs `work` on a thread that stays on the first core that this process may use, and waits for
/// the end of `work`. If the system does not let the thread stay there, the system chooses the
/// cores of the thread.
void on_one_core(const std::function<void()>& work);

}  // namespace penstock::benchmarks
