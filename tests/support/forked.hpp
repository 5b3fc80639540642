// exit_code_of_fork() runs code in a forked process, whose exit code is the result. forked() and
// exit_code_of() are the two halves of exit_code_of_fork(), for a child process that has to return
// from the function that forks.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace penstock::testing {

/// Forks the process, and returns what fork() returns. A signal ends the child process after two
/// minutes.
inline pid_t forked() {
  const pid_t id = ::fork();
  if (id == 0) ::alarm(120);
  return id;
}

/// Waits until the child process `id` has ended. Returns its exit code, or -1 if a signal ended it.
inline int exit_code_of(pid_t id) {
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Calls `child` in a forked process, and returns the result of `child`, a number from 0 to 255.
/// Returns -1 if a signal ended the forked process, which happens after two minutes at the latest.
int exit_code_of_fork(const auto& child) {
  const pid_t id = forked();
  if (id == 0) ::_exit(child());
  return exit_code_of(id);
}

}  // namespace penstock::testing
