#include "engine/monitor/server.hpp"

#include <sys/eventfd.h>
#include <sys/poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "engine/monitor/socket.hpp"
#include "graph/values/stopwatch.hpp"
#include "graph/values/thread_variables.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr int no_flags = MSG_DONTWAIT | MSG_NOSIGNAL;

bool comes_later() noexcept {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

MonitorServer::MonitorServer(int listening, Answer answer)
    : listening_(listening),
      answer_(std::move(answer)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) throw Error(Errc::io_error, "there is no descriptor for another event");
}

void MonitorServer::stop() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof(one)));
}

void MonitorServer::run() noexcept {
  constexpr std::size_t wake = most_connections, listening = most_connections + 1;
  for (;;) {
    std::array<pollfd, most_connections + 2> polled{};
    bool full = true;
    for (std::size_t i = 0; i < most_connections; ++i) {
      const Connection& connection = connections_[i];
      const bool answers = !connection.answer.empty();
      polled[i] = {connection.socket.get(), static_cast<short>(answers ? POLLOUT : POLLIN), 0};
      full = full && connection.socket;
    }
    const std::int64_t now = steady_ns();
    polled[wake] = {wake_.get(), POLLIN, 0};
    polled[listening] = {full || now < next_accept_ns_ ? -1 : listening_, POLLIN, 0};
    ::poll(polled.data(), polled.size(), sleep_ms(now, full));
    if (polled[wake].revents != 0) return;
    // An answer may take long. What other connections have received meanwhile is seen in the next
    // round, before the time of these connections is up.
    const std::int64_t polled_ns = steady_ns();
    for (std::size_t i = 0; i < most_connections; ++i) {
      Connection& connection = connections_[i];
      if (!connection.socket) continue;
      if (polled[i].revents != 0) go_on(connection);
      if (connection.socket && polled_ns >= connection.end_ns) close(connection);
    }
    if (polled[listening].revents != 0) accept_one();
  }
}

int MonitorServer::sleep_ms(std::int64_t now_ns, bool full) const noexcept {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::int64_t next = !full && now_ns < next_accept_ns_ ? next_accept_ns_ : never;
  for (const Connection& connection : connections_)
    if (connection.socket) next = std::min(next, connection.end_ns);
  if (next == never) return -1;
  return static_cast<int>(std::max<std::int64_t>(0, (next - now_ns) / 1'000'000 + 1));
}

void MonitorServer::accept_one() noexcept {
  Descriptor socket(::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const bool refused = !socket && !comes_later() && errno != ECONNABORTED;
  next_accept_ns_ = steady_ns() + (refused ? refused_ns : pause_ns);
  if (!socket || !is_from_this_user(socket)) return;
  const auto free = std::ranges::find_if(
      connections_, [](const Connection& connection) { return !connection.socket; });
  if (free == connections_.end()) return;
  free->socket = std::move(socket);
  free->received = free->sent = 0;
  free->end_ns = steady_ns() + request_ns;
}

void MonitorServer::go_on(Connection& connection) noexcept {
  const bool more = connection.answer.empty() ? receive(connection) : send(connection);
  if (!more) close(connection);
}

bool MonitorServer::receive(Connection& connection) noexcept {
  auto& [socket, request, received, answer, sent, end_ns] = connection;
  const ssize_t bytes =
      ::recv(socket.get(), request.data() + received, request.size() - received, no_flags);
  if (bytes < 0) return comes_later();
  received += static_cast<std::size_t>(bytes);
  const std::string_view text(request.data(), received);
  const std::size_t end = text.find('\n');
  if (end == text.npos) return bytes > 0 && received < request.size();
  static_cast<void>(prepare_to_throw());
  try {
    answer = answer_(text.substr(0, end));
  } catch (...) {
    return false;  // There is no memory for the answer.
  }
  end_ns = steady_ns() + answer_ns;
  return !answer.empty() && send(connection);
}

bool MonitorServer::send(Connection& connection) noexcept {
  auto& [socket, request, received, answer, sent, end_ns] = connection;
  const ssize_t bytes = ::send(socket.get(), answer.data() + sent, answer.size() - sent, no_flags);
  if (bytes < 0) return comes_later();
  sent += static_cast<std::size_t>(bytes);
  return sent < answer.size();
}

// The connection is shut down before it is closed, because a process that was forked from this one
// meanwhile holds it open, too.
void MonitorServer::close(Connection& connection) noexcept {
  ::shutdown(connection.socket.get(), SHUT_RDWR);
  connection.socket = Descriptor();
  connection.answer = std::string();
}

}  // namespace penstock
