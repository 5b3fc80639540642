#include "engine/monitor/socket.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <exception>
#include <string_view>
#include <system_error>

#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// `backlog` is the number of connections that may wait to be accepted.
constexpr int backlog = 8;

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Error(Errc::io_error,
              "socket " + quoted_text(path) + ": " + std::generic_category().message(error));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) refuse(path, ENAMETOOLONG);
  path.copy(address.sun_path, path.size());
  return address;
}

Descriptor new_socket() noexcept {
  return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

const sockaddr* generic(const sockaddr_un& address) noexcept {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// Returns whether somebody listens at the address. The listener may be another copy of this
/// library in this process.
bool is_in_use(const sockaddr_un& address) noexcept {
  const Descriptor connection = new_socket();
  if (!connection) return true;
  return ::connect(connection.get(), generic(address), sizeof(address)) == 0 || errno == EAGAIN;
}

/// Returns the id of the process whose socket is called `name`, or 0 if `name` is no socket's name.
pid_t process_of(std::string_view name) noexcept {
  constexpr std::string_view suffix = ".sock";
  if (!name.ends_with(suffix)) return 0;
  name.remove_suffix(suffix.size());
  const char* const end = name.data() + name.size();
  pid_t process = 0;
  const auto [at, error] = std::from_chars(name.data(), end, process);
  return error == std::errc() && at == end && process > 0 ? process : 0;
}

/// Removes `name` from `directory` if it is the socket of a process that has ended. If there is no
/// memory, the socket stays until the next time. A socket to which somebody listens stays, too,
/// because the id of a process in another container says nothing in this one.
void remove_if_abandoned(const std::string& directory, std::string_view name) noexcept try {
  const pid_t process = process_of(name);
  if (process == 0 || ::kill(process, 0) == 0 || errno != ESRCH) return;
  const std::string path = directory + "/" + std::string(name);
  if (!is_in_use(address_of(path))) ::unlink(path.c_str());
} catch (const std::exception&) {
}

}  // namespace

MonitorSocket::MonitorSocket(const std::string& directory)
    : path_(directory + "/" + std::to_string(::getpid()) + ".sock"), listening_(new_socket()) {
  const sockaddr_un address = address_of(path_);
  if (!listening_) refuse(path_, errno);
  ::fchmod(listening_.get(), S_IRUSR | S_IWUSR);
  const auto bound = [&] {
    return ::bind(listening_.get(), generic(address), sizeof(address)) == 0;
  };
  bool is_bound = bound();
  if (!is_bound && errno == EADDRINUSE && !is_in_use(address)) {
    ::unlink(path_.c_str());
    is_bound = bound();
  }
  if (!is_bound) refuse(path_, errno);
  struct stat made;
  if (::lstat(path_.c_str(), &made) == 0) {
    device_ = made.st_dev;
    file_ = made.st_ino;
  }
  if (::listen(listening_.get(), backlog) == 0) return;
  const int error = errno;
  ::unlink(path_.c_str());
  refuse(path_, error);
}

// The socket is shut down, because a process that was forked from this one holds it open, too.
MonitorSocket::~MonitorSocket() {
  ::shutdown(listening_.get(), SHUT_RDWR);
  struct stat there;
  if (::lstat(path_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == file_)
    ::unlink(path_.c_str());
}

// The function uses no iterator of std::filesystem, which would end the process if there is no
// memory.
void remove_abandoned_sockets(const std::string& directory) noexcept {
  constexpr int most = 64;
  DIR* const entries = ::opendir(directory.c_str());
  if (!entries) return;
  for (int looked_at = 0; looked_at < most; ++looked_at) {
    const dirent* const entry = ::readdir(entries);
    if (!entry) break;
    remove_if_abandoned(directory, entry->d_name);
  }
  ::closedir(entries);
}

bool is_from_this_user(const Descriptor& connection) noexcept {
#if defined(SO_PEERCRED)
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         size == sizeof(peer) && peer.uid == ::geteuid();
#else
  static_cast<void>(connection);
  return false;  // This system does not say whose process it is.
#endif
}

}  // namespace penstock
