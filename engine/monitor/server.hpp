// A MonitorServer answers on a MonitorSocket. Each connection has a line of text as its request and
// gets one answer. The connections, the bytes and the time that strangers and slow readers can take
// from the process are limited. One thread runs the server; any thread may stop it.
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
  /// `pause_ns` is the time that the server waits after it has accepted a connection, before the
  /// next one.
  static constexpr std::int64_t pause_ns = 5'000'000;
  /// `refused_ns` is the time that the server waits after the system has refused a connection, for
  /// example because there was no descriptor for it.
  static constexpr std::int64_t refused_ns = 1'000'000'000;

  /// An Answer is a function that returns the answer to a request. If the answer is empty or the
  /// function throws, the connection is closed without an answer.
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
    std::string answer = {};  ///< `answer` is empty until the request is answered.
    std::size_t sent = 0;
    std::int64_t end_ns = 0;  ///< `end_ns` is when the server closes the connection at the latest.
  };

  void accept_one() noexcept;
  /// Goes on with a connection that can be read or written. A connection that is done is closed.
  void go_on(Connection& connection) noexcept;
  /// Receives what has come of the request, and answers it if it is whole. Returns, as send() does,
  /// whether the connection stays open.
  bool receive(Connection& connection) noexcept;
  bool send(Connection& connection) noexcept;
  static void close(Connection& connection) noexcept;
  /// Returns for how many milliseconds the server may sleep at most, or -1 if there is no limit.
  /// `full` says whether all connections are in use.
  int sleep_ms(std::int64_t now_ns, bool full) const noexcept;

  const int listening_;
  const Answer answer_;
  Descriptor wake_;
  std::array<Connection, most_connections> connections_;
  std::int64_t next_accept_ns_ = 0;
};

}  // namespace penstock
