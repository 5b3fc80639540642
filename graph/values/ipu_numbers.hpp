// These are the numbers that IPUs may have, in every replica.
#pragma once

namespace penstock {

inline constexpr int highest_ipu = 65535;

}  // namespace penstock
