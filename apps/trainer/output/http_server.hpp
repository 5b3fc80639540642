// An HttpServer hands a page to whoever asks for it on this machine, on a thread of its own. What
// strangers and slow readers can take of the process is bounded: connections, bytes and time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace trainer {

/// Owns what the system has opened.
class OpenFile {
 public:
  explicit OpenFile(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

class HttpServer {
 public:
  /// Returns the content of the page. It is called on the server's thread, and throws nothing.
  using Page = std::function<std::string()>;

  /// Serves `page` as `path` on `port` of the loopback interface, 127.0.0.1. The system chooses the
  /// port if that is 0. @throws penstock::Error io_error if the port cannot be had.
  HttpServer(std::uint16_t port, std::string path, Page page);
  /// Waits for the end of the thread.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const noexcept { return port_; }

 private:
  struct Connection;

  void serve() noexcept;
  void accept_one(std::vector<Connection>& connections);
  /// Goes on with a connection, and returns whether it may still need something.
  bool go_on(Connection& connection) const;

  const std::string path_;
  const Page page_;
  OpenFile listening_;
  OpenFile wake_;
  std::uint16_t port_ = 0;
  std::int64_t next_accept_ms_ = 0;  // Is the thread's.
  std::thread thread_;
};

/// Returns the answer to a request whose first line is `line`: what `page` returns for a GET of
/// `path`, and an error else.
std::string http_answer(std::string_view line, std::string_view path, const HttpServer::Page& page);

}  // namespace trainer
