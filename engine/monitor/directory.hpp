// The directory of the monitor's sockets belongs to one user, and is closed to all others. If there
// can be no such directory, there is no monitor.
#pragma once

#include <string>

namespace penstock {

/// Returns the path that the environment gives the directory: `penstock` in XDG_RUNTIME_DIR, if
/// that is a directory of the user's, and otherwise `penstock-` and the user's number in `/tmp`.
std::string name_of_monitor_directory();

/// Returns whether `path` is a directory itself, and no link to one, that belongs to this user and
/// that nobody else may use.
bool is_private_directory(const std::string& path) noexcept;

/// Makes the directory if it is not there, and returns its path. @throws Error io_error if the
/// directory is not private then.
std::string made_monitor_directory();

}  // namespace penstock
