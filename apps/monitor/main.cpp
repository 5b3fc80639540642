// The program penstock-monitor shows what the Penstock models of a user's processes are doing. Its
// option --help lists all options.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/monitor/command_line.hpp"
#include "apps/monitor/engines.hpp"
#include "apps/monitor/json_text.hpp"
#include "apps/monitor/observation.hpp"
#include "apps/monitor/screen.hpp"
#include "apps/monitor/tables.hpp"
#include "penstock/error.hpp"
#include "penstock/monitor.hpp"
#include "penstock/terminal_text.hpp"

namespace monitor {
namespace {

// The monitor waits for answers for at most this many seconds. A process may be busy for a second
// with the waits for which another program has asked.
constexpr double most_seconds = 3;

/// A Silent says whether stderr names the processes that give no answer, or an answer that cannot
/// be read. The screen has no place for such lines.
enum class Silent : std::uint8_t { named, ignored };

/// Sends `request` to every process that the command is about, and waits at most `most_seconds` for
/// the processes of each directory. Returns the answers as `read` reads them. A process without an
/// answer that can be read is left out.
template <class Read>
auto answers(const Command& command, const std::string& request, Read read,
             Silent silent = Silent::named) {
  std::vector<decltype(read(std::string()))> all;
  std::vector<EngineAnswer> engines;
  for (const std::string& directory : penstock::monitor_directories())
    for (EngineAnswer& answer : ask_engines(directory, request, most_seconds, command.pid))
      engines.push_back(std::move(answer));
  for (const EngineAnswer& answer : engines) {
    try {
      if (answer.text.empty()) throw penstock::Error(penstock::Errc::stalled, "no answer");
      auto process = read(answer.text);
      process.pid = answer.pid;
      process.facts = answer.facts;
      all.push_back(std::move(process));
    } catch (const penstock::Error& error) {
      if (silent == Silent::ignored) continue;
      std::fprintf(stderr, "penstock-monitor: process %lld: %s\n",
                   static_cast<long long>(answer.pid),
                   penstock::terminal_text(error.what()).c_str());
    }
  }
  return all;
}

std::vector<Observation> observe(const Command& command, Silent silent = Silent::named) {
  return answers(command, "status", read_status, silent);
}

/// Throws an Error if the command names a process and that process was not `found`.
void expect_found(const Command& command, bool found) {
  if (command.pid && !found)
    throw penstock::Error(penstock::Errc::invalid_argument,
                          "process " + std::to_string(*command.pid) +
                              " has no Penstock models on their IPUs, or is not of this user");
}

void show_waits(const Command& command) {
  const auto waits = answers(command, "why", read_waits);
  expect_found(command, !waits.empty());
  print(command.json ? json_text(waits) : text_of(waits));
}

void show_once(const Command& command) {
  const std::vector<Observation> before = observe(command);
  expect_found(command, !before.empty());
  if (!before.empty())
    std::this_thread::sleep_for(std::chrono::duration<double>(command.interval_seconds));
  std::vector<Observation> now = observe(command);
  add_rates(now, before);
  if (command.json) return print(json_text(now, command.interval_seconds));
  std::string text;
  for (const std::string& line : tables_of(now, 0)) text += line + '\n';
  print(text);
}

void show_live(const Command& command) {
  std::vector<Observation> before = observe(command);
  expect_found(command, !before.empty());
  Screen screen;
  screen.show(tables_of(before, screen.width()));
  while (!Screen::interrupted()) {
    screen.wait(command.interval_seconds);
    if (Screen::interrupted()) return;
    std::vector<Observation> now = observe(command, Silent::ignored);
    add_rates(now, before);
    screen.show(tables_of(now, screen.width()));
    before = std::move(now);
  }
}

void run(const Command& command) {
  if (command.text) return print(*command.text);
  if (command.why) return show_waits(command);
  if (command.once || command.json) return show_once(command);
  show_live(command);
}

}  // namespace
}  // namespace monitor

int main(int argc, char** argv) {
  constexpr int refused_code = 2, failed_code = 1;
  std::signal(SIGPIPE, SIG_IGN);
  int code = refused_code;
  try {
    const monitor::Command command = monitor::read_command_line(argc, argv);
    code = failed_code;
    monitor::run(command);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "penstock-monitor: %s\n", penstock::terminal_text(error.what()).c_str());
  }
  return code;
}
