// A UnixClient is a connection to a Unix socket. By it, a test may also behave badly.
#pragma once

#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace penstock::testing {

class UnixClient {
 public:
  /// Connects to the socket `path`. Waits for the connection, unless `flags`, which are given to
  /// socket(), say otherwise.
  explicit UnixClient(const std::string& path, int flags = 0)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~UnixClient() { ::close(socket_); }
  UnixClient(const UnixClient&) = delete;
  UnixClient& operator=(const UnixClient&) = delete;

  bool connected() const { return connected_; }
  bool send(std::string_view bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  /// Returns everything that comes until the other end hangs up, or until nothing has come for
  /// `patience_ms`. In the latter case, the text says so at its end.
  std::string read_all(int patience_ms = 10'000) const {
    std::string text;
    char bytes[4096];
    for (;;) {
      pollfd polled{socket_, POLLIN, 0};
      if (::poll(&polled, 1, patience_ms) != 1) return text + "(nothing more comes)";
      const auto received = ::recv(socket_, bytes, sizeof(bytes), 0);
      if (received <= 0) return text;
      text.append(bytes, static_cast<std::size_t>(received));
    }
  }

 private:
  int socket_;
  bool connected_ = false;
};

/// Sends `request` to the socket `path`, and returns the answer. The answer is empty if the request
/// cannot be sent.
inline std::string asked(const std::string& path, const std::string& request) {
  const UnixClient client(path);
  if (!client.connected() || !client.send(request + '\n')) return "";
  return client.read_all();
}

}  // namespace penstock::testing
