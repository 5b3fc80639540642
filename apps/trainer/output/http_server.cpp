#include "apps/trainer/output/http_server.hpp"

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "penstock/error.hpp"

namespace trainer {
namespace {

constexpr std::size_t most_connections = 8, most_request_bytes = 4096;
constexpr std::int64_t request_ms = 1000, answer_ms = 2000;
/// After the server has accepted a connection, it accepts the next one `pause_ms` milliseconds
/// later at the earliest. If the system has refused a connection, or there is no memory for a
/// connection, the pause is `refused_ms` milliseconds.
constexpr std::int64_t pause_ms = 5, refused_ms = 1000;

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

bool comes_later() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

[[noreturn]] void refuse(std::uint16_t port, int error) {
  throw penstock::Error(penstock::Errc::io_error,
                        "--metrics-port: cannot have port " + std::to_string(port) +
                            " of 127.0.0.1: " + std::generic_category().message(error));
}

std::string response(std::string_view status, std::string_view type, const std::string& body,
                     std::string_view more = "") {
  std::string text = "HTTP/1.1 ";
  text.append(status).append("\r\nContent-Type: ").append(type).append("\r\n").append(more);
  return text + "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
         body;
}

std::string error_response(std::string_view status, std::string_view more = "") {
  return response(status, "text/plain; charset=utf-8", std::string(status) + '\n', more);
}

}  // namespace

OpenFile::OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

struct HttpServer::Connection {
  OpenFile socket;
  std::int64_t end_ms = 0;   // `end_ms` is the time at which the server closes the connection.
  std::string request = {};  // `request` is the part of the request that has arrived.
  std::string answer = {};   // `answer` is empty until the server has an answer.
  std::size_t sent = 0;
};

std::string http_answer(std::string_view line, std::string_view path,
                        const HttpServer::Page& page) {
  const std::size_t method_end = line.find(' ');
  const std::size_t target_end = line.rfind(' ');
  if (method_end == line.npos || target_end <= method_end ||
      !line.substr(target_end + 1).starts_with("HTTP/1."))
    return error_response("400 Bad Request");
  if (line.substr(0, method_end) != "GET")
    return error_response("405 Method Not Allowed", "Allow: GET\r\n");
  std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
  if (target.substr(0, target.find('?')) != path) return error_response("404 Not Found");
  return response("200 OK", "text/plain; version=0.0.4; charset=utf-8", page());
}

HttpServer::HttpServer(std::uint16_t port, std::string path, Page page)
    : path_(std::move(path)),
      page_(std::move(page)),
      listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const int listening = listening_.descriptor(), yes = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (listening < 0 || wake_.descriptor() < 0 ||
      ::setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      ::bind(listening, generic, size) != 0 ||
      ::listen(listening, static_cast<int>(most_connections)) != 0 ||
      ::getsockname(listening, generic, &size) != 0)
    refuse(port, errno);
  port_ = ntohs(address.sin_port);
  // The new thread blocks all signals, so that the thread that trains gets them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error&) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw penstock::Error(penstock::Errc::out_of_memory,
                          "--metrics-port: cannot start another thread");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HttpServer::~HttpServer() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.descriptor(), &one, sizeof(one)));
  thread_.join();
}

void HttpServer::serve() noexcept {
  std::vector<Connection> connections;
  for (;;) {
    std::array<pollfd, most_connections + 2> polled{};
    std::size_t count = 0;
    std::int64_t next_ms = now_ms() + request_ms;
    for (const Connection& connection : connections) {
      const bool answers = !connection.answer.empty();
      polled[count++] = {connection.socket.descriptor(),
                         static_cast<short>(answers ? POLLOUT : POLLIN), 0};
      next_ms = std::min(next_ms, connection.end_ms);
    }
    const std::int64_t now = now_ms();
    const bool accepts = count < most_connections && now >= next_accept_ms_;
    if (!accepts && count < most_connections) next_ms = std::min(next_ms, next_accept_ms_);
    polled[count] = {wake_.descriptor(), POLLIN, 0};
    polled[count + 1] = {accepts ? listening_.descriptor() : -1, POLLIN, 0};
    const auto patience = std::max<std::int64_t>(0, next_ms - now);
    ::poll(polled.data(), count + 2, static_cast<int>(patience));
    if (polled[count].revents != 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      Connection& connection = connections[i];
      bool more = true;
      try {
        if (polled[i].revents != 0) more = go_on(connection);
      } catch (const std::exception&) {
        more = false;  // There is no memory for the request or the answer.
      }
      if (!more || now_ms() >= connection.end_ms) connection.socket = OpenFile();
    }
    std::erase_if(connections,
                  [](const Connection& connection) { return connection.socket.descriptor() < 0; });
    if (polled[count + 1].revents != 0) accept_one(connections);
  }
}

void HttpServer::accept_one(std::vector<Connection>& connections) try {
  OpenFile socket(
      ::accept4(listening_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const bool accepted = socket.descriptor() >= 0;
  const bool refused = !accepted && !comes_later() && errno != ECONNABORTED;
  next_accept_ms_ = now_ms() + (refused ? refused_ms : pause_ms);
  if (accepted) connections.push_back({std::move(socket), now_ms() + request_ms});
} catch (const std::exception&) {
  next_accept_ms_ = now_ms() + refused_ms;  // There is no memory for the connection.
}

bool HttpServer::go_on(Connection& connection) const {
  auto& [socket, end_ms, request, answer, sent] = connection;
  if (answer.empty()) {
    std::array<char, most_request_bytes> bytes;
    const auto received = ::recv(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (received <= 0) return received < 0 && comes_later();
    request.append(bytes.data(), static_cast<std::size_t>(received));
    const bool whole = request.find("\r\n\r\n") != request.npos;
    if (!whole && request.size() < most_request_bytes) return true;
    answer = whole ? http_answer(request.substr(0, request.find("\r\n")), path_, page_)
                   : error_response("431 Request Header Fields Too Large");
    end_ms = now_ms() + answer_ms;
  }
  const auto written =
      ::send(socket.descriptor(), answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
  if (written < 0) return comes_later();
  sent += static_cast<std::size_t>(written);
  return sent < answer.size();
}

}  // namespace trainer
