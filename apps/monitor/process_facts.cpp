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
  return cleaned(command);
}

std::string user_of(std::int64_t pid) {
  struct stat status;
  if (stat(path_of(pid, "").c_str(), &status) != 0) return "";
  const passwd* const entry = getpwuid(status.st_uid);
  return entry ? cleaned(entry->pw_name) : std::to_string(status.st_uid);
}

/// Returns how many bytes the UTF-8 character at the beginning of `text` has. Returns 0 if there is
/// no valid character, or a control character of two bytes.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool too_long = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool no_character = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  const bool control = first == 0xC2 && byte(1) < 0xA0;
  return too_long || no_character || control ? 0 : bytes;
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

std::string cleaned(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const bool control = bytes == 1 && (text[0] < ' ' || text[0] == '\x7f');
    clean += bytes == 0 || control ? "?" : text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return clean;
}

}  // namespace monitor
