// The directory of the sockets belongs to one user, and is closed to all others. Where that cannot
// be had, there is no monitor.
#pragma once

#include <string>

namespace penstock {

/// Returns the name that the environment gives the directory: `penstock` in XDG_RUNTIME_DIR, if
/// that is the user's, and otherwise `penstock-` and the user's number in `/tmp`.
std::string name_of_monitor_directory();

/// Returns whether `path` is a directory itself, and no link to one, that belongs to this user and
/// that nobody else may use.
bool is_private_directory(const std::string& path) noexcept;

/// Makes the directory if it is not there. @throws Error io_error unless it is private then.
std::string made_monitor_directory();

}  // namespace penstock
