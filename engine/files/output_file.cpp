#include "penstock/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::size_t buffer_bytes = 1 << 16;

std::string unique_suffix() {
  static std::atomic<unsigned> count{0};
  return ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

/// Writes what a rename changes in a directory to disk; a file system that cannot is none the
/// worse.
void sync_directory(const std::filesystem::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& target) : name_(target.string()) {
  std::error_code error;
  const auto resolved = std::filesystem::canonical(target, error);
  target_ = error ? std::filesystem::absolute(target, error) : resolved;
  if (!target_.has_filename()) fail(target.empty() ? ENOENT : EISDIR);

  struct stat existing = {};
  const bool exists = ::stat(target_.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail(EISDIR);
  if (exists && !S_ISREG(existing.st_mode))
    throw Error(Errc::io_error, "cannot write \"" + name_ + "\": it is not a regular file");
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail(errno);

  create_temporary();
  if (exists) ::fchmod(descriptor_, existing.st_mode & 07777);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close();
  ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void OutputFile::write(std::span<const std::byte> bytes) {
  assert(descriptor_ >= 0);
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), buffer_bytes - buffer_.size()));
    buffer_.append(reinterpret_cast<const char*>(part.data()), part.size());
    bytes = bytes.subspan(part.size());
    if (buffer_.size() == buffer_bytes) flush();
  }
}

void OutputFile::commit() {
  assert(descriptor_ >= 0);
  flush();
  if (::fsync(descriptor_) != 0) fail(errno);
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  close();
  sync_directory(target_.parent_path());
}

void OutputFile::create_temporary() {
  do {
    temporary_ = target_;
    temporary_ += unique_suffix();
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) fail(errno);
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) fail(errno);
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void OutputFile::close() noexcept {
  ::close(descriptor_);
  descriptor_ = -1;
}

void OutputFile::fail(int error_number) const {
  throw Error(Errc::io_error,
              "cannot write \"" + name_ + "\": " + std::generic_category().message(error_number));
}

}  // namespace penstock
