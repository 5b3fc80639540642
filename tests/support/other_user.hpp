// succeeds_as_other_user() calls a function as a user without special rights, to whom the
// permissions of files apply.
#pragma once

#include <functional>

namespace penstock::testing {

/// Calls `action` in a process of its own, which belongs to the user nobody if this process belongs
/// to root, and to the same user otherwise. Returns whether `action` returned true and no
/// expectation in it failed.
bool succeeds_as_other_user(const std::function<bool()>& action);

}  // namespace penstock::testing
