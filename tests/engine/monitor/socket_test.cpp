// These tests check that the socket of a process exists while the process listens, and never gets
// in anybody's way.

#include "engine/monitor/socket.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "tests/support/forked.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/unix_client.hpp"

namespace penstock::testing {
namespace {

TEST(MonitorSocket, IsThereWhileItListensAndForItsUserAlone) {
  const TemporaryDirectory directory;
  const std::string name = std::to_string(::getpid()) + ".sock";
  {
    const MonitorSocket socket(directory.path().string());
    EXPECT_EQ(directory.entries(), std::set<std::string>{name});
    struct stat made;
    ASSERT_EQ(::stat(socket.path().c_str(), &made), 0);
    EXPECT_TRUE(S_ISSOCK(made.st_mode));
    EXPECT_EQ(made.st_mode & 0777, 0600U);
    EXPECT_TRUE(UnixClient(socket.path()).connected());
  }
  EXPECT_EQ(directory.entries(), std::set<std::string>());
}

TEST(MonitorSocket, ReplacesOneToWhichNobodyListens) {
  const TemporaryDirectory directory;
  std::optional<MonitorSocket> first(directory.path().string());
  // The name of the socket outlives the process that listened, as after kill -9.
  ASSERT_EQ(::link(first->path().c_str(), (directory / "kept").c_str()), 0);
  first.reset();
  ASSERT_EQ(::rename((directory / "kept").c_str(),
                     (directory / (std::to_string(::getpid()) + ".sock")).c_str()),
            0);
  const MonitorSocket next(directory.path().string());
  EXPECT_TRUE(UnixClient(next.path()).connected());
}

TEST(MonitorSocket, LeavesOneAloneToWhichAnotherCopyOfTheLibraryListens) {
  const TemporaryDirectory directory;
  const MonitorSocket first(directory.path().string());
  EXPECT_NE(refusal(Errc::io_error, [&] { MonitorSocket(directory.path().string()); })
                .find("Address already in use"),
            std::string::npos);
  EXPECT_TRUE(UnixClient(first.path()).connected());
}

TEST(MonitorSocket, LeavesWhatHasTakenItsName) {
  const TemporaryDirectory directory;
  {
    const MonitorSocket socket(directory.path().string());
    ASSERT_EQ(::unlink(socket.path().c_str()), 0);
    write_file(socket.path(), "mine");
  }
  EXPECT_EQ(directory.entries().size(), 1U);
}

TEST(MonitorSocket, OfAProcessThatHasEndedIsRemovedAndNoOther) {
  const TemporaryDirectory directory;
  const auto left_by = [&](pid_t process, const MonitorSocket& socket) {
    EXPECT_EQ(
        ::link(socket.path().c_str(), (directory / (std::to_string(process) + ".sock")).c_str()),
        0);
  };
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(ended, nullptr, 0), ended);
  const std::string name = std::to_string(ended) + ".sock";
  const MonitorSocket listening(directory.path().string());
  left_by(ended, listening);
  remove_abandoned_sockets(directory.path().string());
  EXPECT_EQ(directory.entries().count(name), 1U) << "somebody listens, in another container";
  ASSERT_EQ(::unlink((directory / name).c_str()), 0);
  const TemporaryDirectory other;
  {
    const MonitorSocket left(other.path().string());
    left_by(ended, left);
    left_by(::getppid(), left);
  }
  write_file(directory / "words.sock", "");
  remove_abandoned_sockets(directory.path().string());
  EXPECT_EQ(directory.entries(),
            (std::set<std::string>{std::to_string(::getpid()) + ".sock",
                                   std::to_string(::getppid()) + ".sock", "words.sock"}));
  remove_abandoned_sockets((directory / "nothing").string());
}

TEST(MonitorSocket, IsRefusedWhereItsPathIsTooLongOrItsDirectoryMissing) {
  const TemporaryDirectory directory;
  EXPECT_NE(refusal(Errc::io_error,
                    [&] { MonitorSocket(directory.path().string() + std::string(200, 'x')); }),
            "accepted");
  EXPECT_NE(refusal(Errc::io_error, [&] { MonitorSocket((directory / "nothing").string()); }),
            "accepted");
}

}  // namespace
}  // namespace penstock::testing
