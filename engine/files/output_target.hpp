// These functions say where an output file goes, and whether it may go there.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace penstock {

/// Returns the absolute path of the file that `target` leads to when links are followed. The file
/// need not exist. If the system does not tell where a link leads, `target` is followed only up to
/// that link.
std::filesystem::path followed(const std::filesystem::path& target);

/// Returns why the file at `target` cannot be replaced, or an empty text if it can, or if it was
/// removed since `existing` was read. If `target` is a link, `existing` describes the link, and not
/// the file that the link leads to.
std::string obstacle(const std::filesystem::path& target, const std::filesystem::path& directory,
                     const struct stat& existing);

/// Returns the system's text for the error number `error`.
std::string system_message(int error);

}  // namespace penstock
