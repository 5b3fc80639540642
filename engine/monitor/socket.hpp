// A MonitorSocket is the socket of this process in the directory of sockets. It listens from the
// constructor to the destructor.
#pragma once

#include <sys/types.h>

#include <string>

#include "engine/monitor/descriptor.hpp"

namespace penstock {

class MonitorSocket {
 public:
  /// Listens under the name of this process in `directory`. A socket of that name that nobody
  /// listens to is removed first. @throws Error io_error
  explicit MonitorSocket(const std::string& directory);
  /// Removes the socket's file, unless the file of another socket has taken its place.
  ~MonitorSocket();
  MonitorSocket(const MonitorSocket&) = delete;
  MonitorSocket& operator=(const MonitorSocket&) = delete;

  int descriptor() const noexcept { return listening_.get(); }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  Descriptor listening_;
  dev_t device_ = 0;
  ino_t file_ = 0;
};

/// Removes sockets from `directory` to which nobody listens because their processes have ended.
/// Each call looks at a few files only.
void remove_abandoned_sockets(const std::string& directory) noexcept;

/// Returns whether the process at the other end of `connection` is of this user.
bool is_from_this_user(const Descriptor& connection) noexcept;

}  // namespace penstock
