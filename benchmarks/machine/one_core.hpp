// This measures on one core.
#pragma once

#include <functional>

namespace penstock::benchmarks {

/// Runs `work` on a thread that stays on the first core that this process may use; where the system
/// does not let it, on whichever cores it puts the thread.
void on_one_core(const std::function<void()>& work);

}  // namespace penstock::benchmarks
