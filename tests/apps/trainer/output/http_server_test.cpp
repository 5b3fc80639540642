// These tests check that a well-formed request gets the page of numbers, and that no other request
// costs the process much.

#include "apps/trainer/output/http_server.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "penstock/error.hpp"

namespace trainer {
namespace {

/// A Client is a connection to a port of this machine.
class Client {
 public:
  explicit Client(std::uint16_t port, std::uint32_t address = INADDR_LOOPBACK, int flags = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | flags, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(address);
    to.sin_port = htons(port);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void send(const std::string& text) const {
    static_cast<void>(!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL));
  }
  std::string read_all() const {
    std::string text;
    char bytes[4096];
    for (;;) {
      pollfd polled{socket_, POLLIN, 0};
      if (::poll(&polled, 1, 20'000) != 1) return text + "(nothing more comes)";
      const auto received = ::recv(socket_, bytes, sizeof(bytes), 0);
      if (received <= 0) return text;
      text.append(bytes, static_cast<std::size_t>(received));
    }
  }

 private:
  int socket_;
  bool connected_ = false;
};

std::string answer_to(const HttpServer& server, const std::string& request) {
  const Client client(server.port());
  client.send(request);
  return client.read_all();
}

HttpServer numbers() {
  return HttpServer(0, "/metrics", [] { return std::string("penstock_steps_total 3\n"); });
}

TEST(HttpServer, HandsOutThePage) {
  const HttpServer server = numbers();
  EXPECT_EQ(answer_to(server, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: 23\r\nConnection: close\r\n\r\npenstock_steps_total 3\n");
  EXPECT_NE(answer_to(server, "GET /metrics?x=1 HTTP/1.0\r\n\r\n").find(" 200 OK"),
            std::string::npos);
}

TEST(HttpServer, RefusesEverythingElse) {
  const HttpServer server = numbers();
  const auto status_of = [&](const std::string& request) {
    const std::string answer = answer_to(server, request);
    return answer.substr(0, answer.find("\r\n"));
  };
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found");
  EXPECT_EQ(status_of("GET /metrics/more HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found");
  EXPECT_EQ(status_of("POST /metrics HTTP/1.1\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed");
  EXPECT_EQ(status_of("GET /metrics\r\n\r\n"), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(status_of("\r\n\r\n"), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(status_of("\xff\xfe\r\n\r\n"), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(status_of("GET /metrics HTTP/1.1\r\nX: " + std::string(5000, 'x')),
            "HTTP/1.1 431 Request Header Fields Too Large");
}

TEST(HttpServer, IsThereForThisMachineAlone) {
  const HttpServer server = numbers();
  // 127.0.0.2 is an address of this machine, too, but the server does not listen on that address.
  EXPECT_FALSE(Client(server.port(), INADDR_LOOPBACK + 1).connected());
  EXPECT_THROW(HttpServer(server.port(), "/metrics", [] { return std::string(); }), penstock::Error)
      << "the port is taken";
}

TEST(HttpServer, GivesUpWhoAsksForNothingAndWhoReadsNothing) {
  const HttpServer server(0, "/metrics", [] { return std::string(std::size_t{64} << 20, 'x'); });
  const Client silent(server.port()), reads_nothing(server.port());
  reads_nothing.send("GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_EQ(silent.read_all(), "") << "after a second";
  std::this_thread::sleep_for(std::chrono::seconds(3));
  EXPECT_LT(reads_nothing.read_all().size(), std::size_t{64} << 20) << "it was given up";
}

TEST(HttpServer, ServesAfterAThousandConnections) {
  const HttpServer server = numbers();
  {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 1000; ++i)
      clients.push_back(std::make_unique<Client>(server.port(), INADDR_LOOPBACK, SOCK_NONBLOCK));
  }
  std::string answer;
  for (int attempts = 0; answer.empty() && attempts < 100; ++attempts)
    answer = answer_to(server, "GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_NE(answer.find(" 200 OK"), std::string::npos);
}

}  // namespace
}  // namespace trainer
