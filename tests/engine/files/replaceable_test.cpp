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

}  // namespace
}  // namespace penstock
