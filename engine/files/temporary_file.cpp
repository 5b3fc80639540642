#include "engine/files/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "actors/threads/uncancelled.hpp"
#include "engine/files/names_in.hpp"

namespace penstock {
namespace {

constexpr std::string_view prefix = ".penstock-";
constexpr std::string_view temporary_suffix = ".tmp";

/// Returns a new name for a temporary file. The name does not contain the target's name, because it
/// may have at most 255 bytes.
std::string unique_name() {
  static std::atomic<unsigned> count{0};
  return std::string(prefix) + std::to_string(::getpid()) + '-' + std::to_string(count++) +
         std::string(temporary_suffix);
}

/// Removes the number that `text` begins with, and returns it. Returns nothing if `text` does not
/// begin with a number from 0 to the largest `Number`.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < Number{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Returns the id of the process that made the temporary file `name`, or nothing if `name` is not
/// the name of a temporary file.
std::optional<pid_t> owner_of(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const auto owner = take_number<pid_t>(name);
  if (!owner || *owner == 0 || !name.starts_with('-')) return std::nullopt;
  name.remove_prefix(1);
  if (!take_number<unsigned>(name) || name != temporary_suffix) return std::nullopt;
  return owner;
}

bool runs(pid_t process) {
  return ::getpgid(process) >= 0 || errno != ESRCH;
}

/// Returns the path in /proc by which linkat() finds an open file. The function does not use the
/// heap, because there may be no memory left.
std::array<char, 32> link_source(int descriptor) noexcept {
  constexpr std::string_view folder = "/proc/self/fd/";
  std::array<char, 32> path{};
  char* const digits = std::copy(folder.begin(), folder.end(), path.begin());
  std::to_chars(digits, path.data() + path.size(), descriptor);
  return path;
}

[[noreturn]] void fail() {
  throw std::system_error(errno, std::generic_category());
}

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& directory, Name name, mode_t mode)
    : directory_(directory) {
  if (name == Name::avoided) open_nameless(mode);
  if (descriptor_ < 0) open_named(mode);
}

TemporaryFile::~TemporaryFile() {
  const actors::Uncancelled uncancelled;
  ::close(descriptor_);
  if (!name_.empty()) ::unlink(name_.c_str());
}

void TemporaryFile::become(const std::filesystem::path& target) {
  if (name_.empty() && link_to(target)) return;
  if (name_.empty()) take_name();
  if (std::rename(name_.c_str(), target.c_str()) != 0) fail();
  name_.clear();
}

void TemporaryFile::remove_abandoned(const std::filesystem::path& directory,
                                     std::chrono::seconds age) {
  namespace fs = std::filesystem;
  const auto oldest = fs::file_time_type::clock::now() - age;
  for (const std::string& name : names_in(directory)) {
    const auto owner = owner_of(name);
    if (!owner || runs(*owner)) continue;
    const fs::path file = directory / name;
    std::error_code vanished;
    const auto written = fs::last_write_time(file, vanished);
    if (!vanished && written < oldest) ::unlink(file.c_str());
  }
}

void TemporaryFile::open_nameless(mode_t mode) {
  do descriptor_ = ::open(directory_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  while (descriptor_ < 0 && errno == EINTR);
  // Without /proc, the file could never get a name. The constructor then makes a file with a name.
  if (descriptor_ < 0 || ::access(link_source(descriptor_).data(), F_OK) == 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
}

void TemporaryFile::open_named(mode_t mode) {
  do {
    name_ = directory_ / unique_name();
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) fail();
}

bool TemporaryFile::link_to(const std::filesystem::path& path) const noexcept {
  return ::linkat(AT_FDCWD, link_source(descriptor_).data(), AT_FDCWD, path.c_str(),
                  AT_SYMLINK_FOLLOW) == 0;
}

void TemporaryFile::take_name() {
  std::filesystem::path name = directory_ / unique_name();
  while (!link_to(name)) {
    if (errno != EEXIST) fail();
    name = directory_ / unique_name();
  }
  name_.swap(name);  // A swap cannot throw, so the destructor removes the new name.
}

}  // namespace penstock
