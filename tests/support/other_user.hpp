// Actions of a user who has no rights but everybody's, to whom permissions apply.
#pragma once

#include <functional>

namespace penstock::testing {

/// Calls `action` in a process of its own, as such a user if this one is root, and as this user
/// otherwise. True if it returned true; a failed expectation inside makes it false.
bool succeeds_as_other_user(const std::function<bool()>& action);

}  // namespace penstock::testing
