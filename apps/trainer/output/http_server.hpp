// An HttpServer sends a page to each program on this machine that asks for it. It has a thread of
// its own. The number of its connections, and the bytes and the time of each, are limited, so that
// strangers and slow readers cannot use up the process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace trainer {

/// An OpenFile owns a descriptor that the system has opened, and closes it. The descriptor -1
/// stands for none.
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
  /// A Page returns the content of the page. It is called on the server's thread, and throws
  /// nothing.
  using Page = std::function<std::string()>;

  /// Serves `page` as `path` on `port` of the loopback interface, 127.0.0.1. The system chooses the
  /// port if `port` is 0. @throws penstock::Error io_error if the port is not available;
  /// out_of_memory if the thread cannot be started.
  HttpServer(std::uint16_t port, std::string path, Page page);
  /// Ends the thread and waits until it has ended.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const noexcept { return port_; }

 private:
  struct Connection;

  void serve() noexcept;
  void accept_one(std::vector<Connection>& connections);
  /// Receives more of the request or sends more of the answer. Returns false if the connection is
  /// to be closed.
  bool go_on(Connection& connection) const;

  const std::string path_;
  const Page page_;
  OpenFile listening_;
  OpenFile wake_;
  std::uint16_t port_ = 0;
  // `next_accept_ms_` is the time from which a connection may be accepted. Only the server's thread
  // uses it.
  std::int64_t next_accept_ms_ = 0;
  std::thread thread_;
};

/// Returns the answer to a request whose first line is `line`. The answer to a GET of `path` has
/// the content that `page` returns; any other request is answered with an error.
std::string http_answer(std::string_view line, std::string_view path, const HttpServer::Page& page);

}  // namespace trainer
