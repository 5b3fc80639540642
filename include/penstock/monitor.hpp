// A process that has running models can be looked at from outside, by penstock-monitor or by a
// program of the host's. Such a process answers on a socket, as docs/monitoring.md says.
#pragma once

#include <string>
#include <vector>

#include "penstock/standard.hpp"

namespace penstock {

/// Returns the directory that has the sockets of all processes of this user with running models. A
/// socket's name is the number of its process and ".sock". The result is an empty text if there is
/// no such directory, or if anybody but the user may use the directory. The function works the same
/// under every locale.
/// @throws Error out_of_memory
std::string monitor_directory();

/// Returns every directory that may have such sockets: monitor_directory(), and those of this
/// user's processes that run in another environment, such as a service without XDG_RUNTIME_DIR.
/// Directories that do not exist, or that others than the user may use, are left out.
/// @throws Error out_of_memory
std::vector<std::string> monitor_directories();

}  // namespace penstock
