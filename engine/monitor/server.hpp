// A MonitorServer answers on a MonitorSocket. Each connection has a line of text as its request and
// gets one answer. What strangers and slow readers can take of the process is bounded: connections,
// bytes and time. One thread runs it; any thread may stop it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/monitor/descriptor.hpp"

namespace penstock {

class MonitorServer {
 public:
  static constexpr std::size_t most_connections = 8;
  static constexpr std::size_t most_request_bytes = 256;
  static constexpr std::int64_t request_ns = 1'000'000'000;
  static constexpr std::int64_t answer_ns = 2'000'000'000;
  /// Connections are accepted with such a pause between each two.
  static constexpr std::int64_t pause_ns = 5'000'000;
  /// After the system has refused a connection, for want of descriptors for example, the server
  /// waits for so long.
  static constexpr std::int64_t refused_ns = 1'000'000'000;

  /// Returns the answer to a request; the connection is closed without one if that is empty or if
  /// the function throws.
  using Answer = std::function<std::string(std::string_view)>;

  /// Serves the socket `listening`, which outlives the server. @throws Error io_error
  MonitorServer(int listening, Answer answer);
  MonitorServer(const MonitorServer&) = delete;
  MonitorServer& operator=(const MonitorServer&) = delete;

  /// Serves until stop() is called.
  void run() noexcept;
  void stop() noexcept;

 private:
  struct Connection {
    Descriptor socket = Descriptor();
    std::array<char, most_request_bytes> request = {};
    std::size_t received = 0;
    std::string answer = {};  ///< Is empty until there is one.
    std::size_t sent = 0;
    std::int64_t end_ns = 0;  ///< Is when the server gives it up.
  };

  void accept_one() noexcept;
  /// Goes on with a connection that can be read or written. A connection that is done is closed.
  void go_on(Connection& connection) noexcept;
  /// Returns whether the connection may still need something.
  bool receive(Connection& connection) noexcept;
  bool send(Connection& connection) noexcept;
  static void close(Connection& connection) noexcept;
  /// Returns how long the server may sleep at most, in milliseconds, or -1 if for ever.
  int sleep_ms(std::int64_t now_ns, bool full) const noexcept;

  const int listening_;
  const Answer answer_;
  Descriptor wake_;
  std::array<Connection, most_connections> connections_;
  std::int64_t next_accept_ns_ = 0;
};

}  // namespace penstock
