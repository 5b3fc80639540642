#include "engine/files/replaceable.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

constexpr uid_t root = 0, host = 1, owner = 2, stranger = 3;

bool replaceable_by(uid_t user, mode_t directory_mode) {
  struct stat directory = {}, file = {};
  directory.st_mode = S_IFDIR | directory_mode;
  directory.st_uid = host;
  file.st_uid = owner;
  return replaceable(directory, file, user);
}

TEST(Replaceable, AStickyDirectoryKeepsFilesFromStrangers) {
  EXPECT_FALSE(replaceable_by(stranger, 01777));
  for (const uid_t user : {root, host, owner}) EXPECT_TRUE(replaceable_by(user, 01777)) << user;
}

TEST(Replaceable, AnyOtherDirectoryDoesNot) {
  for (const uid_t user : {root, host, owner, stranger})
    EXPECT_TRUE(replaceable_by(user, 0777)) << user;
}

TEST(KeptMode, IsTheSameForTheSameOwnerAndGroup) {
  for (mode_t mode = 0; mode <= 07777; ++mode)
    EXPECT_EQ(kept_mode(S_IFREG | mode, true, true), mode);
}

TEST(KeptMode, GivesNobodyMoreThanBefore) {
  for (mode_t mode = 0; mode <= 07777; ++mode) {
    const mode_t of_others = mode & 07, kept = kept_mode(mode, false, false);
    EXPECT_EQ(kept & 0070, of_others << 3) << mode;
    EXPECT_EQ(kept & 06000, mode_t{0}) << mode;
    EXPECT_EQ(kept & 01707, mode & 01707) << mode;
    EXPECT_EQ(kept_mode(mode, false, true), mode & ~mode_t{04000}) << mode;
  }
}

}  // namespace
}  // namespace penstock
