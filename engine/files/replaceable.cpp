#include "engine/files/replaceable.hpp"

namespace penstock {

bool replaceable(const struct stat& directory, const struct stat& file, uid_t user) noexcept {
  constexpr uid_t root = 0;
  const bool sticky = (directory.st_mode & S_ISVTX) != 0;
  return !sticky || user == root || user == file.st_uid || user == directory.st_uid;
}

}  // namespace penstock
