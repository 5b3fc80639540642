// A UnixClient is a connection to a socket of the file system, of which a test may make bad use.
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
  /// Connects, and waits for that if need be.
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
  /// Returns all that comes until the other end hangs up, or nothing comes for so long.
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

/// Returns the answer to `request`; empty if there is none.
inline std::string asked(const std::string& path, const std::string& request) {
  const UnixClient client(path);
  if (!client.connected() || !client.send(request + '\n')) return "";
  return client.read_all();
}

}  // namespace penstock::testing
