// Advice says what would make a profiled run faster or smaller, and how large a gain the simulator
// expects. The functions are pure.
#pragma once

#include <vector>

#include "graph/plan/plan.hpp"
#include "penstock/profile.hpp"

namespace penstock {

/// Returns the advice that the measured figures of `profile` give rise to, with the largest
/// expected gain first.
std::vector<ProfileAdvice> advice_on(const Profile& profile, const graph::Plan& plan);

}  // namespace penstock
