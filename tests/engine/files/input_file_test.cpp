#include "engine/files/input_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/other_user.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::TemporaryDirectory;
using testing::write_file;
using Links = InputFile::Links;

std::string read_all(InputFile& file, std::size_t room) {
  std::string bytes(room, '?');
  bytes.resize(file.read(std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

std::string refusal_of(const std::filesystem::path& path, Links links = Links::followed) {
  return testing::refusal(Errc::io_error, [&] { InputFile(path, "it", links); });
}

TEST(InputFile, IsReadToItsEnd) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "content");
  InputFile file(directory / "file", "it");
  EXPECT_EQ(file.bytes(), 7U);
  EXPECT_EQ(read_all(file, 3), "con");
  EXPECT_EQ(read_all(file, 100), "tent");
  EXPECT_EQ(read_all(file, 1), "");
}

// Opening a pipe without a writer would never return, and reading a device might never end.
TEST(InputFile, RefusesWhatIsNoFile) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  write_file(directory / "file", "");
  const std::string no_file = "it: expected a file, got a directory or device";
  EXPECT_EQ(refusal_of(directory.path()), no_file);
  EXPECT_EQ(refusal_of(directory / "fifo"), no_file);
  EXPECT_EQ(refusal_of("/dev/zero"), no_file);
  EXPECT_EQ(refusal_of(directory / "missing"), "it: no such file");
  EXPECT_EQ(refusal_of(directory / "file" / "inside"), "it: Not a directory");
  EXPECT_EQ(refusal_of(directory / std::string(300, 'x')), "it: File name too long");
}

TEST(InputFile, FollowsALinkOnlyIfItMay) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "content");
  std::filesystem::create_symlink("file", directory / "link");
  EXPECT_EQ(InputFile(directory / "link", "it").bytes(), 7U);
  EXPECT_EQ(InputFile(directory / "file", "it", Links::refused).bytes(), 7U);
  EXPECT_EQ(refusal_of(directory / "link", Links::refused),
            "it: expected a file, got a directory, link or device");
}

TEST(InputFile, SaysThatItMayNotBeRead) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "closed");
  write_file(directory / "closed" / "file", "content");
  write_file(directory / "file", "content");
  std::filesystem::permissions(directory.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(directory / "file", std::filesystem::perms{0200});
  std::filesystem::permissions(directory / "closed", std::filesystem::perms::none);
  EXPECT_TRUE(testing::succeeds_as_other_user([&] {
    return refusal_of(directory / "closed" / "file") == "it: Permission denied" &&
           refusal_of(directory / "file") == "it: Permission denied";
  }));
  std::filesystem::permissions(directory / "closed", std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace penstock
