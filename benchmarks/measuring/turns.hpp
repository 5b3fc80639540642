// These functions measure things by turns, so that a change of the machine's speed affects all of
// them.
#pragma once

#include <functional>
#include <vector>

namespace penstock::benchmarks {

/// Takes each of `measurements` once per round, one after the other, and returns the median of what
/// each of them returned in `rounds` rounds.
std::vector<double> medians_by_turns(int rounds,
                                     const std::vector<std::function<double()>>& measurements);

/// Makes calls for some milliseconds, and returns the median of their seconds. The first call does
/// not count, because it fetches what other work has driven out of the caches.
double call_seconds(const std::function<void()>& call);

}  // namespace penstock::benchmarks
