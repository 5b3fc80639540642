// These tests check that the directory of the sockets is closed to all other users, and that a
// directory that is not closed to them is not used.

#include "engine/monitor/directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "penstock/monitor.hpp"
#include "tests/support/environment_variable.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

TEST(MonitorDirectory, IsInTheRuntimeDirectoryOfTheUser) {
  const TemporaryDirectory runtime;
  const EnvironmentVariable variable("XDG_RUNTIME_DIR", runtime.path().string());
  EXPECT_EQ(monitor_directory(), "") << "nobody has made it";
  const std::string path = (runtime / "penstock").string();
  EXPECT_EQ(made_monitor_directory(), path);
  EXPECT_EQ(monitor_directory(), path);
  struct stat made;
  ASSERT_EQ(::stat(path.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0700U);
  EXPECT_EQ(made_monitor_directory(), path) << "it may be there already";
}

TEST(MonitorDirectory, IsInTmpWhereThereIsNoRuntimeDirectoryOfTheUsers) {
  const TemporaryDirectory runtime;
  const std::string in_tmp =
      (std::filesystem::path("/tmp") / ("penstock-" + std::to_string(::geteuid()))).string();
  for (const std::optional<std::string>& value :
       {std::optional<std::string>(), std::optional<std::string>(""),
        std::optional<std::string>("relative"),
        std::optional<std::string>((runtime / "nothing").string())}) {
    const EnvironmentVariable variable("XDG_RUNTIME_DIR", value);
    EXPECT_EQ(name_of_monitor_directory(), in_tmp);
  }
}

TEST(MonitorDirectories, AreAlsoThoseOfProcessesInAnotherEnvironment) {
  std::string in_tmp;
  {
    const EnvironmentVariable variable("XDG_RUNTIME_DIR", std::optional<std::string>());
    in_tmp = made_monitor_directory();
    const std::vector<std::string> directories = monitor_directories();
    EXPECT_EQ(std::ranges::count(directories, in_tmp), 1);
  }
  const TemporaryDirectory runtime;
  const EnvironmentVariable variable("XDG_RUNTIME_DIR", runtime.path().string());
  EXPECT_EQ(std::ranges::count(monitor_directories(), (runtime / "penstock").string()), 0)
      << "nobody has made it";
  const std::string path = made_monitor_directory();
  const std::vector<std::string> directories = monitor_directories();
  EXPECT_EQ(std::ranges::count(directories, path), 1);
  EXPECT_EQ(std::ranges::count(directories, in_tmp), 1);
}

TEST(MonitorDirectory, IsNotUsedIfOthersMayUseItToo) {
  const TemporaryDirectory runtime;
  const EnvironmentVariable variable("XDG_RUNTIME_DIR", runtime.path().string());
  const std::string path = (runtime / "penstock").string();
  const auto refused = [] {
    return refusal(Errc::io_error, [] { made_monitor_directory(); })
        .starts_with("expected a directory that is closed to others in ");
  };
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  for (const mode_t mode : {0710, 0701, 0755, 0777}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_TRUE(refused()) << mode;
    EXPECT_EQ(monitor_directory(), "");
  }
  ASSERT_EQ(::rmdir(path.c_str()), 0);
  ASSERT_EQ(::mkdir((runtime / "other").c_str(), 0700), 0);
  ASSERT_EQ(::symlink((runtime / "other").c_str(), path.c_str()), 0);
  EXPECT_TRUE(refused()) << "it is a link";
  EXPECT_EQ(monitor_directory(), "");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  write_file(path, "");
  EXPECT_TRUE(refused()) << "it is a file";
}

TEST(MonitorDirectory, OfAnotherUserIsNotUsed) {
  if (::geteuid() != 0) return;  // Only root can give a directory to another user.
  const TemporaryDirectory runtime;
  const EnvironmentVariable variable("XDG_RUNTIME_DIR", runtime.path().string());
  const std::string path = (runtime / "penstock").string();
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(is_private_directory(path));
  EXPECT_EQ(monitor_directory(), "");
}

}  // namespace
}  // namespace penstock::testing
