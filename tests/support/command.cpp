#include "tests/support/command.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <stdexcept>
#include <utility>

#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

constexpr int cannot_start = 127;

void redirect(int descriptor, const char* path) {
  const int file = ::open(path, O_WRONLY | O_CREAT, 0600);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(cannot_start);
}

void replace(int descriptor, Unread end) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0 || ::dup2(ends[1], descriptor) < 0) ::_exit(cannot_start);
  if (end == Unread::closed) ::close(descriptor);
}

void limit_files(std::uint64_t bytes) {
  const rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(cannot_start);
}

/// Gives two signals their default effects, because the program that started the tests may have
/// changed them.
void restore_signals() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// A PipeReader reads the text that a program writes to its end of a pipe, until the program closes
/// that end.
class PipeReader {
 public:
  PipeReader() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  }
  ~PipeReader() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  /// Connects `descriptor` to the pipe. This function is called in the program's process.
  void replace(int descriptor) const {
    if (::dup2(ends_[1], descriptor) < 0) ::_exit(cannot_start);
  }

  /// Returns everything that the program writes. Calls `on_first` when the first bytes have come.
  std::string read_all(const std::function<void()>& on_first) {
    ::close(std::exchange(ends_[1], -1));
    std::string text;
    char part[4096];
    for (ssize_t size; (size = ::read(ends_[0], part, sizeof part)) > 0;) {
      if (text.empty()) on_first();
      text.append(part, static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  int ends_[2] = {-1, -1};
};

int wait_for(pid_t process) {
  int status = 0;
  if (::waitpid(process, &status, 0) != process) throw std::runtime_error("cannot wait");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& command, const CommandOptions& options) {
  const TemporaryDirectory directory;
  const std::string out = options.out.value_or((directory / "out").string());
  PipeReader err;
  const std::vector<char*> arguments = pointers(command);
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error("cannot fork");
  if (process == 0) {
    redirect(STDOUT_FILENO, out.c_str());
    err.replace(STDERR_FILENO);
    if (options.unread_out) replace(STDOUT_FILENO, *options.unread_out);
    if (options.unread_err) replace(STDERR_FILENO, *options.unread_err);
    if (options.signal) std::signal(*options.signal, SIG_DFL);
    restore_signals();
    if (options.file_bytes) limit_files(*options.file_bytes);
    ::alarm(options.most_seconds);
    ::execv(arguments[0], arguments.data());
    ::_exit(cannot_start);
  }
  CommandResult result;
  result.err = err.read_all([&] {
    if (options.signal) ::kill(process, *options.signal);
  });
  result.code = wait_for(process);
  if (result.code == cannot_start) throw std::runtime_error("cannot start " + command[0]);
  if (!options.out) result.out = file_content(out);
  return result;
}

}  // namespace penstock::testing
