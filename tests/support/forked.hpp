// exit_code_of_fork() says what code does in a process that was forked, as a number for the parent,
// and so do its two halves where the child is to leave a function.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace penstock::testing {

/// Forks the process, and returns what fork() returns. A signal ends the child after two minutes.
inline pid_t forked() {
  const pid_t id = ::fork();
  if (id == 0) ::alarm(120);
  return id;
}

/// Waits until the child `id` has ended and returns its exit code, or -1 if a signal ended it.
inline int exit_code_of(pid_t id) {
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Runs `child` in a forked process and returns what it returned, which becomes the process's exit
/// code (0 to 255); -1 if a signal ended the process, as one does that has run for two minutes.
int exit_code_of_fork(const auto& child) {
  const pid_t id = forked();
  if (id == 0) ::_exit(child());
  return exit_code_of(id);
}

}  // namespace penstock::testing
