#include "engine/files/output_target.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "engine/files/replaceable.hpp"

namespace penstock {
namespace {

/// Returns whether the process's standard output or error goes to `file`, which must not be
/// replaced then: the new file would have neither what the process wrote there before nor what it
/// writes afterwards.
bool is_standard_stream(const struct stat& file) {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream = {};
    if (::fstat(descriptor, &stream) == 0 && same_file(stream, file)) return true;
  }
  return false;
}

}  // namespace

std::filesystem::path followed(const std::filesystem::path& target) {
  constexpr int most_links = 40;  // Linux follows at most 40 links.
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(target, error);
  for (int links = 0; links < most_links; ++links) {
    const auto resolved = std::filesystem::canonical(path, error);
    if (!error) return resolved;
    // The path may lead to a pipe, which has no canonical path.
    if (std::filesystem::exists(path, error)) return path;
    const auto link = std::filesystem::read_symlink(path, error);
    if (error) return path;
    path = path.parent_path() / link;
  }
  return path;
}

std::string obstacle(const std::filesystem::path& target, const std::filesystem::path& directory,
                     const struct stat& existing) {
  struct stat linked = existing;
  if (S_ISLNK(existing.st_mode) && ::stat(target.c_str(), &linked) != 0 && errno != ENOENT)
    return system_message(errno);
  if (S_ISDIR(linked.st_mode)) return system_message(EISDIR);
  if (!S_ISREG(linked.st_mode) && !S_ISLNK(linked.st_mode)) return "it is not a regular file";
  if (S_ISLNK(existing.st_mode)) return "it is a link";
  if (is_standard_stream(existing))
    return "the standard output or error goes there; name another file";
  if (::access(target.c_str(), W_OK) != 0) return errno == ENOENT ? "" : system_message(errno);
  struct stat parent = {};
  if (::stat(directory.c_str(), &parent) == 0 && !replaceable(parent, existing, ::geteuid()))
    return "it belongs to another user, and its directory lets only the owner replace it";
  return {};
}

std::string system_message(int error) {
  return std::generic_category().message(error);
}

}  // namespace penstock
