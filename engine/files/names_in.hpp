// names_in() lists the files of a directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace penstock {

/// Returns the names of all that is in `directory`, or none if it cannot be read. The standard
/// library's iterator would end the process without memory. @throws std::bad_alloc
std::vector<std::string> names_in(const std::filesystem::path& directory);

}  // namespace penstock
