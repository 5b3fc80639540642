// These tests check that strangers cost the server a bounded amount of memory, time and
// descriptors, whatever they send, and however slowly they read.

#include "engine/monitor/server.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "engine/monitor/socket.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/unix_client.hpp"

namespace penstock::testing {
namespace {

/// A Served runs a server in a thread of its own while the object lives.
class Served {
 public:
  explicit Served(MonitorServer::Answer answer)
      : socket_(directory_.path().string()),
        server_(socket_.descriptor(), std::move(answer)),
        thread_([this] { server_.run(); }) {}
  ~Served() {
    server_.stop();
    thread_.join();
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  const std::string& path() const { return socket_.path(); }

 private:
  TemporaryDirectory directory_;
  MonitorSocket socket_;
  MonitorServer server_;
  std::thread thread_;
};

std::string echo(std::string_view request) {
  return "<" + std::string(request) + ">";
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

TEST(MonitorServer, AnswersOneLineOfEachConnection) {
  const Served served(echo);
  EXPECT_EQ(asked(served.path(), "status"), "<status>");
  const UnixClient client(served.path());
  EXPECT_TRUE(client.send("in two "));
  EXPECT_TRUE(client.send("parts\nand more"));
  EXPECT_EQ(client.read_all(), "<in two parts>");
}

TEST(MonitorServer, HangsUpOnWhatIsNoRequest) {
  const Served served([](std::string_view request) {
    if (request == "throw") throw std::bad_alloc();
    return std::string();
  });
  EXPECT_EQ(asked(served.path(), "nothing"), "");
  EXPECT_EQ(asked(served.path(), "throw"), "");
  const UnixClient garbage(served.path());
  garbage.send(std::string(100'000, '\xff'));
  EXPECT_EQ(garbage.read_all(), "");
  {
    const UnixClient hasty(served.path());
    EXPECT_TRUE(hasty.connected());
  }
  const UnixClient longest(served.path());
  longest.send(std::string(MonitorServer::most_request_bytes, 'x'));
  EXPECT_EQ(longest.read_all(), "");
}

TEST(MonitorServer, GivesUpWhoAsksForNothingAndWhoReadsNothing) {
  const Served served([](std::string_view) { return std::string(std::size_t{4} << 20, 'x'); });
  const UnixClient silent(served.path());
  const UnixClient reads_nothing(served.path());
  EXPECT_TRUE(reads_nothing.send("much\n"));
  EXPECT_EQ(silent.read_all(), "") << "after a second";
  const std::string answer = asked(served.path(), "much");
  EXPECT_EQ(answer.size(), std::size_t{4} << 20) << "others are served meanwhile";
  std::this_thread::sleep_for(std::chrono::nanoseconds(MonitorServer::answer_ns));
  EXPECT_LT(reads_nothing.read_all().size(), std::size_t{4} << 20) << "it was given up";
}

TEST(MonitorServer, HasFewConnectionsHoweverManyComeAndServesAfterThem) {
  std::atomic<std::size_t> answers{0};
  const Served served([&](std::string_view request) {
    ++answers;
    return echo(request);
  });
  const std::size_t before = open_descriptors();
  std::size_t most = 0;
  {
    std::vector<std::unique_ptr<UnixClient>> clients;
    for (int i = 0; i < 1000; ++i) {
      clients.push_back(std::make_unique<UnixClient>(served.path(), SOCK_NONBLOCK));
      if (i % 100 == 0) most = std::max(most, open_descriptors() - before - clients.size());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    most = std::max(most, open_descriptors() - before - clients.size());
  }
  EXPECT_LE(most, MonitorServer::most_connections);
  EXPECT_EQ(asked(served.path(), "status"), "<status>");
  EXPECT_EQ(answers, 1U);
  EXPECT_LE(open_descriptors(), before + 1);
}

TEST(MonitorServer, EndsAtOnceWhoeverIsConnected) {
  std::vector<std::unique_ptr<UnixClient>> clients;
  {
    const Served served(echo);
    for (int i = 0; i < 5; ++i) clients.push_back(std::make_unique<UnixClient>(served.path()));
  }
  for (const auto& client : clients) EXPECT_EQ(client->read_all(), "");
}

}  // namespace
}  // namespace penstock::testing
