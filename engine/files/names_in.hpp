// names_in() lists the files of a directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace penstock {

/// Returns the names of all files and directories in `directory`, or none if `directory` cannot be
/// read. The function does not use the standard library's iterator, which ends the process if there
/// is no memory. @throws std::bad_alloc
std::vector<std::string> names_in(const std::filesystem::path& directory);

/// Returns the names as names_in() does. @throws Error io_error if the directory cannot be read.
std::vector<std::string> expect_names_in(const std::filesystem::path& directory);

}  // namespace penstock
