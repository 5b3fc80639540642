// exit_code_of_fork() says what code does in a process that was forked, as a number for the parent.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace penstock::testing {

/// Runs `child` in a forked process and returns what it returned, which becomes the process's exit
/// code (0 to 255); -1 if a signal ended the process, as one does that has run for two minutes.
int exit_code_of_fork(const auto& child) {
  const pid_t id = ::fork();
  if (id == 0) {
    ::alarm(120);
    ::_exit(child());
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace penstock::testing
