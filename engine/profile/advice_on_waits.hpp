// These pure functions say how a run that a profile has measured would wait less and need less
// memory.
#pragma once

#include <string>
#include <vector>

#include "penstock/profile.hpp"

namespace penstock {

/// Returns advice for each reason for which IPUs, or the host between calls, have waited long.
std::vector<ProfileAdvice> advice_on_waits(const Profile& profile);

/// Returns advice for each IPU whose memory is nearly used up.
std::vector<ProfileAdvice> advice_on_memory(const Profile& profile);

/// Returns a share from 0 to 1 as a text such as "47 %".
std::string percent_text(double share);

}  // namespace penstock
