#include "penstock/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <system_error>

#include "engine/files/replaceable.hpp"
#include "engine/files/temporary_file.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::size_t buffer_bytes = 1 << 16;

/// Writes what a rename changes in a directory to disk; a file system that cannot is none the
/// worse.
void sync_directory(const std::filesystem::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Whether the process's standard output or error goes to the file: replaced, it would get neither
/// what they wrote before nor what they write after.
bool is_standard_stream(const struct stat& file) {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream = {};
    if (::fstat(descriptor, &stream) == 0 && same_file(stream, file)) return true;
  }
  return false;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& target) : name_(target.string()) {
  std::error_code error;
  const auto resolved = std::filesystem::canonical(target, error);
  target_ = error ? std::filesystem::absolute(target, error) : resolved;
  if (!target_.has_filename()) fail(target.empty() ? ENOENT : EISDIR);

  struct stat existing = {};
  const bool exists = ::stat(target_.c_str(), &existing) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  if (exists && S_ISDIR(existing.st_mode)) fail(EISDIR);
  if (exists && !S_ISREG(existing.st_mode)) refuse("it is not a regular file");
  if (exists && is_standard_stream(existing))
    refuse("the standard output or error goes there; name another file");
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail(errno);
  struct stat directory = {};
  if (exists && ::stat(target_.parent_path().c_str(), &directory) == 0 &&
      !replaceable(directory, existing, ::geteuid()))
    refuse("it belongs to another user, and its directory lets only the owner replace it");

  try {
    temporary_ = std::make_unique<TemporaryFile>(target_.parent_path());
  } catch (const std::system_error& refused) {
    fail(refused.code().value());
  }
  if (exists) ::fchmod(temporary_->descriptor(), existing.st_mode & 07777);
}

OutputFile::~OutputFile() = default;

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void OutputFile::write(std::span<const std::byte> bytes) {
  assert(temporary_);
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), buffer_bytes - buffer_.size()));
    buffer_.append(reinterpret_cast<const char*>(part.data()), part.size());
    bytes = bytes.subspan(part.size());
    if (buffer_.size() == buffer_bytes) flush();
  }
}

void OutputFile::sync() {
  assert(temporary_);
  flush();
  if (::fsync(temporary_->descriptor()) != 0) fail(errno);
}

void OutputFile::commit() {
  sync();
  try {
    temporary_->become(target_);
  } catch (const std::system_error& refused) {
    fail(refused.code().value());
  }
  temporary_.reset();
  sync_directory(target_.parent_path());
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(temporary_->descriptor(), rest.data(), rest.size());
    if (written < 0 && errno != EINTR) fail(errno);
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void OutputFile::fail(int error_number) const {
  refuse(std::generic_category().message(error_number));
}

void OutputFile::refuse(const std::string& reason) const {
  throw Error(Errc::io_error, "cannot write \"" + name_ + "\": " + reason);
}

}  // namespace penstock
