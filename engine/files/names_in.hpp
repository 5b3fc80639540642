// names_in(): the files of a directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace penstock {

/// The names of everything in a directory; none if it cannot be read. The standard library's
/// iterator ends the process where it has no memory. @throws std::bad_alloc
std::vector<std::string> names_in(const std::filesystem::path& directory);

}  // namespace penstock
