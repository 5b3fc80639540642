// These pure functions say how a run that a profile has measured would wait less and need less
// memory.
#pragma once

#include <vector>

#include "penstock/profile.hpp"

namespace penstock {

/// Returns advice for each reason for which IPUs, or the host between calls, have waited long.
std::vector<ProfileAdvice> advice_on_waits(const Profile& profile);

/// Returns advice for each IPU whose memory is nearly used up.
std::vector<ProfileAdvice> advice_on_memory(const Profile& profile);

}  // namespace penstock
