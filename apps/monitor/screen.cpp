#include "apps/monitor/screen.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "apps/monitor/table.hpp"
#include "penstock/error.hpp"

namespace monitor {
namespace {

volatile sig_atomic_t is_interrupted = 0;

void note_interrupt(int) {
  is_interrupted = 1;
}
void note_nothing(int) {}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

winsize size_of_terminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  return size;
}

constexpr const char* other_screen = "\x1b[?1049h\x1b[?25l";
constexpr const char* first_screen = "\x1b[?25h\x1b[?1049l";

}  // namespace

Screen::Screen() : terminal_(isatty(STDOUT_FILENO) == 1) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, note_interrupt);
  if (!terminal_) return;
  handle(SIGWINCH, note_nothing);
  print(other_screen);
}

Screen::~Screen() {
  if (!terminal_) return;
  std::fputs(first_screen, stdout);
  std::fflush(stdout);
}

std::size_t Screen::width() const {
  return terminal_ ? size_of_terminal().ws_col : 0;
}

void Screen::show(const std::vector<std::string>& lines) {
  std::string text;
  if (!terminal_) {
    if (shown_) text += '\n';
    for (const std::string& line : lines) text += line + '\n';
  } else {
    const winsize size = size_of_terminal();
    const std::size_t width = size.ws_col > 0 ? size.ws_col : std::string::npos;
    std::size_t shown = lines.size();
    if (size.ws_row > 0 && shown > size.ws_row) shown = size.ws_row - std::size_t{1};
    text = "\x1b[H";
    for (std::size_t i = 0; i < shown; ++i)
      text += (i > 0 ? "\r\n" : "") + cut(lines[i], width) + "\x1b[K";
    if (shown < lines.size())
      text += "\r\n" + cut(std::to_string(lines.size() - shown) + " more lines", width) + "\x1b[K";
    text += "\x1b[J";
  }
  shown_ = true;
  print(text);
}

void Screen::wait(double seconds) const {
  sigset_t all, before;
  sigfillset(&all);
  // Signals stay blocked until pselect() waits, so that no signal is missed after interrupted()
  // returns.
  sigprocmask(SIG_SETMASK, &all, &before);
  if (!interrupted()) {
    timespec time{};
    time.tv_sec = static_cast<time_t>(seconds);
    time.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
    pselect(0, nullptr, nullptr, nullptr, &time, &before);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

bool Screen::interrupted() noexcept {
  return is_interrupted != 0;
}

void print(const std::string& text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written != text.size() || std::fflush(stdout) != 0)
    throw penstock::Error(penstock::Errc::io_error, "cannot write to the standard output");
}

}  // namespace monitor
