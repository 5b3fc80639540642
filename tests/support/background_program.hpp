// A BackgroundProgram is a program that runs beside the test. The destructor kills the program if
// it still runs.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace penstock::testing {

class BackgroundProgram {
 public:
  /// Starts `command` with an empty stdin. Its stdout and stderr go to the files `out` and `err`.
  explicit BackgroundProgram(const std::vector<std::string>& command,
                             const std::string& out = "/dev/null",
                             const std::string& err = "/dev/null") {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    process_ = ::fork();
    if (process_ < 0) throw std::runtime_error("cannot fork");
    if (process_ > 0) return;
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT);
    redirect(STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT);
    ::alarm(300);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ~BackgroundProgram() { end(SIGKILL); }
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  pid_t id() const { return process_; }
  /// Sends `signal` to the program, and waits for the program's end. Returns the exit code, or -1
  /// if a signal ended the program or end() was called before.
  int end(int signal) {
    if (process_ < 0) return -1;
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  static void redirect(int descriptor, const char* path, int mode) {
    const int file = ::open(path, mode, 0600);
    if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(127);
  }

  pid_t process_ = -1;
};

}  // namespace penstock::testing
