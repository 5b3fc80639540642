#include "apps/trainer/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace trainer {
namespace {

/// Opens the standard stream `stream` if it is closed. The system takes the lowest free descriptor,
/// which is `stream` if all lower ones are in use.
void occupy(int stream, int mode) {
  if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", mode);
}

}  // namespace

void let_writes_fail() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  occupy(STDIN_FILENO, O_WRONLY);
  occupy(STDOUT_FILENO, O_RDONLY);
  occupy(STDERR_FILENO, O_RDONLY);
}

}  // namespace trainer
