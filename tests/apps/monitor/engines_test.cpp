// These tests check that the monitor finds the processes that answer, and that a process that does
// not answer does not hold up the monitor.

#include "apps/monitor/engines.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "tests/support/temporary_directory.hpp"

namespace monitor {
namespace {

using penstock::testing::TemporaryDirectory;
using penstock::testing::write_file;

/// A Listening is a socket at which this process listens while the object lives, under the name
/// that a socket of process `pid` has.
class Listening {
 public:
  Listening(const TemporaryDirectory& directory, std::int64_t pid)
      : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = (directory / (std::to_string(pid) + ".sock")).string();
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
  }
  ~Listening() { ::close(socket_); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  /// Answers one request with `text`, and returns the request.
  std::string answer(const std::string& text) const {
    const int connection = ::accept(socket_, nullptr, nullptr);
    char request[256] = {};
    EXPECT_GT(::recv(connection, request, sizeof(request) - 1, 0), 0);
    EXPECT_EQ(::send(connection, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
    ::close(connection);
    return request;
  }

 private:
  int socket_;
};

std::int64_t ended_process() {
  const pid_t process = ::fork();
  if (process == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(process, nullptr, 0), process);
  return process;
}

TEST(Engines, AreTheSocketsWithTheNumbersOfProcesses) {
  const TemporaryDirectory directory;
  for (const char* name : {"20.sock", "3.sock", "-3.sock", "3x.sock", ".sock", "3.txt", "0.sock",
                           "99999999999999999999.sock"})
    write_file(directory / name, "");
  EXPECT_EQ(engines_in(directory.path().string()), (std::vector<std::int64_t>{3, 20}));
  EXPECT_EQ(engines_in((directory / "nothing").string()), std::vector<std::int64_t>());
}

TEST(Engines, AnswerOneAfterTheOtherOrOneAlone) {
  const TemporaryDirectory directory;
  const Listening listening(directory, ::getpid());
  std::string request;
  std::thread engine([&] { request = listening.answer("{}"); });
  const auto answers = ask_engines(directory.path().string(), "status", 10);
  engine.join();
  EXPECT_EQ(request, "status\n");
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].pid, ::getpid());
  EXPECT_EQ(answers[0].text, "{}");
  EXPECT_FALSE(answers[0].facts.command.empty());
  EXPECT_FALSE(answers[0].facts.user.empty());
  EXPECT_GE(answers[0].facts.running_seconds, 0.0);
  EXPECT_TRUE(ask_engines(directory.path().string(), "status", 10, 1).empty());
}

TEST(Engines, ThatAreSilentHoldUpNobody) {
  const TemporaryDirectory directory;
  const Listening silent(directory, ::getpid());
  const auto answers = ask_engines(directory.path().string(), "status", 0.05);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].text, "");
  EXPECT_EQ(directory.entries().size(), 1U) << "the process lives";
}

TEST(Engines, ThatHaveEndedLoseTheirSockets) {
  const TemporaryDirectory directory;
  const std::int64_t ended = ended_process();
  { const Listening left(directory, ended); }
  { const Listening left(directory, ::getpid()); }
  EXPECT_EQ(directory.entries().size(), 2U);
  const auto answers = ask_engines(directory.path().string(), "status", 1);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(directory.entries(), std::set<std::string>{std::to_string(::getpid()) + ".sock"});
}

// In another container, the number of a process belongs to another process, or to none.
TEST(Engines, OfAnotherContainerKeepTheirSockets) {
  const TemporaryDirectory directory;
  const std::int64_t ended = ended_process();
  const Listening other(directory, ended);
  const auto answers = ask_engines(directory.path().string(), "status", 0.05);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].facts.command, "");
  EXPECT_EQ(directory.entries().size(), 1U);
}

}  // namespace
}  // namespace monitor
