#include "engine/files/replaceable.hpp"

namespace penstock {

bool same_file(const struct stat& one, const struct stat& other) noexcept {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool replaceable(const struct stat& directory, const struct stat& file, uid_t user) noexcept {
  constexpr uid_t root = 0;
  const bool sticky = (directory.st_mode & S_ISVTX) != 0;
  return !sticky || user == root || user == file.st_uid || user == directory.st_uid;
}

mode_t kept_mode(mode_t mode, bool keeps_owner, bool keeps_group) noexcept {
  mode &= 07777;
  if (!keeps_owner) mode &= ~mode_t{S_ISUID};
  if (keeps_group) return mode;
  return (mode & ~mode_t{S_ISGID | S_IRWXG}) | ((mode & S_IRWXO) << 3);
}

}  // namespace penstock
