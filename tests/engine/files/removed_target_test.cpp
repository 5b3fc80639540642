// This test checks that OutputFile writes a file that another program removes while it is about to
// be replaced. The test's program has an access() of its own, which removes the file that it is
// asked about, at the moment at which OutputFile has found the file and asks whether it may be
// written.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "penstock/output_file.hpp"
#include "tests/support/temporary_directory.hpp"

namespace {

const char* removed_when_asked = nullptr;

}  // namespace

extern "C" int access(const char* path, int mode) noexcept {
  if (removed_when_asked && std::string_view(path) == removed_when_asked) ::unlink(path);
  return ::faccessat(AT_FDCWD, path, mode, 0);
}

namespace penstock {
namespace {

TEST(RemovedTarget, IsWrittenAnew) {
  testing::TemporaryDirectory directory;
  const std::string target = directory / "out";
  testing::write_file(target, "old");

  removed_when_asked = target.c_str();
  OutputFile file(target);
  removed_when_asked = nullptr;
  EXPECT_NE(::faccessat(AT_FDCWD, target.c_str(), F_OK, 0), 0) << "the file was to be removed";

  file.write("new");
  file.commit();
  EXPECT_EQ(testing::file_content(target), "new");
}

}  // namespace
}  // namespace penstock
