// A directory whose file system fails to write it to the disk.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "penstock/error.hpp"
#include "penstock/output_file.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace {

/// `directory_error` is the error with which each directory fails to be written to the disk; 0
/// means that none fails.
std::atomic<int> directory_error = 0;

}  // namespace

/// This function takes the place of the C library's, for the whole test program.
extern "C" int fsync(int descriptor) {
  struct stat file = {};
  if (directory_error != 0 && ::fstat(descriptor, &file) == 0 && S_ISDIR(file.st_mode)) {
    errno = directory_error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace penstock {
namespace {

using testing::file_content;
using testing::refusal;
using testing::TemporaryDirectory;

class FailingSync : public ::testing::Test {
 protected:
  ~FailingSync() override { directory_error = 0; }
};

TEST_F(FailingSync, OfADirectoryIsToldAndCanBeTriedAgain) {
  const TemporaryDirectory directory;
  OutputFile file(directory / "out");
  file.write("text");
  directory_error = EIO;
  EXPECT_EQ(refusal(Errc::io_error, [&] { file.commit(); }),
            "cannot write \"" + (directory / "out").string() +
                "\": it is in place, but its directory was not written to the disk: "
                "Input/output error");
  EXPECT_EQ(file_content(directory / "out"), "text");
  directory_error = 0;
  file.commit();
  EXPECT_EQ(file_content(directory / "out"), "text");
}

TEST_F(FailingSync, OfAFileSystemThatCannotWriteDirectoriesIsNoFailure) {
  const TemporaryDirectory directory;
  OutputFile file(directory / "out");
  file.write("text");
  directory_error = EINVAL;
  file.commit();
  EXPECT_EQ(file_content(directory / "out"), "text");
}

}  // namespace
}  // namespace penstock
