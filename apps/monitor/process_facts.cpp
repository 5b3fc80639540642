#include "apps/monitor/process_facts.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "penstock/terminal_text.hpp"

namespace monitor {
namespace {

constexpr std::size_t most_command_bytes = 4096;

std::string path_of(std::int64_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + (*file ? "/" : "") + file;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(most_command_bytes, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

/// Returns the fields of /proc/<pid>/stat that follow the program's name. The name ends at the last
/// ")" of the file, because the name itself may have spaces and parentheses in it.
std::vector<std::string> state_fields(std::int64_t pid) {
  const std::string content = content_of(path_of(pid, "stat"));
  const std::size_t name_end = content.rfind(')');
  if (name_end == content.npos) return {};
  std::istringstream fields(content.substr(name_end + 1));
  return {std::istream_iterator<std::string>(fields), {}};
}

std::optional<double> running_seconds(std::int64_t pid) {
  // Field 22 of the file is the start of the process, in clock ticks since the boot.
  constexpr std::size_t begin_field = 19;
  const std::vector<std::string> fields = state_fields(pid);
  double up = 0;
  std::istringstream uptime(content_of("/proc/uptime"));
  if (fields.size() <= begin_field || !(uptime >> up)) return std::nullopt;
  const double begin = std::stod(fields[begin_field]) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return std::max(0.0, up - begin);
}

std::string command_of(std::int64_t pid) {
  std::string command = content_of(path_of(pid, "cmdline"));
  while (command.ends_with('\0')) command.pop_back();
  std::ranges::replace(command, '\0', ' ');
  return penstock::terminal_text(command);
}

std::string user_of(std::int64_t pid) {
  struct stat status;
  if (stat(path_of(pid, "").c_str(), &status) != 0) return "";
  const passwd* const entry = getpwuid(status.st_uid);
  return entry ? penstock::terminal_text(entry->pw_name) : std::to_string(status.st_uid);
}

}  // namespace

ProcessFacts facts_of(std::int64_t pid) {
  return {
      .command = command_of(pid), .user = user_of(pid), .running_seconds = running_seconds(pid)};
}

bool has_ended(std::int64_t pid) {
  const std::vector<std::string> fields = state_fields(pid);
  return fields.empty() || fields.front() == "Z" || fields.front() == "X";
}

}  // namespace monitor
