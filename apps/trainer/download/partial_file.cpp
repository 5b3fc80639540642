#include "apps/trainer/download/partial_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>

#include "penstock/error.hpp"

namespace trainer {
namespace {

namespace fs = std::filesystem;

/// Brings the entries of a directory to the disk, if its file system can do that.
void sync_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

fs::path part_of(fs::path target) {
  return target += ".penstock-part";
}

}  // namespace

NewDirectories::NewDirectories(const fs::path& path) {
  std::error_code it_cannot_be_made;
  for (fs::path missing = path; !missing.empty() && !fs::exists(missing, it_cannot_be_made);
       missing = missing.parent_path())
    made_.push_back(missing);
  fs::create_directories(path, it_cannot_be_made);
}

NewDirectories::~NewDirectories() {
  for (const fs::path& path : made_) ::rmdir(path.c_str());
}

void PartialFile::discard(const fs::path& target) noexcept try {
  std::error_code it_cannot_be_seen;
  if (fs::exists(part_of(target), it_cannot_be_seen)) PartialFile(target).remove();
} catch (const std::exception&) {
}

PartialFile::PartialFile(const fs::path& target)
    : target_(target), path_(part_of(target)), directories_(path_.parent_path()) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor_ < 0) fail("cannot be opened");
  struct stat facts {};
  const bool is_locked = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  if (!is_locked && errno != EWOULDBLOCK) fail_to_open("cannot be locked");
  if (::fstat(descriptor_, &facts) != 0) fail_to_open("cannot be examined");
  // Whoever had the lock before may have removed the file, or put it in place, meanwhile.
  struct stat named {};
  const bool is_named = ::stat(path_.c_str(), &named) == 0 && named.st_ino == facts.st_ino;
  if (is_locked && is_named && S_ISREG(facts.st_mode)) {
    bytes_ = static_cast<std::uint64_t>(facts.st_size);
    return;
  }
  ::close(descriptor_);
  if (!is_locked || !is_named)
    throw penstock::Error(penstock::Errc::busy, path_.string() + ": another process writes it");
  throw penstock::Error(penstock::Errc::io_error, path_.string() + ": expected a regular file");
}

PartialFile::~PartialFile() {
  if (bytes_ == 0) remove();
  ::close(descriptor_);
}

void PartialFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    bytes_ += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void PartialFile::clear() {
  if (::ftruncate(descriptor_, 0) != 0) fail("cannot be emptied");
  bytes_ = 0;
}

void PartialFile::put_in_place() {
  if (::fsync(descriptor_) != 0) fail("cannot be written to the disk");
  if (::rename(path_.c_str(), target_.c_str()) != 0)
    fail("cannot be renamed to " + target_.filename().string());
  is_over_ = true;
  sync_directory(target_.has_parent_path() ? target_.parent_path() : ".");
}

void PartialFile::remove() noexcept {
  if (!is_over_) ::unlink(path_.c_str());
  is_over_ = true;
}

void PartialFile::fail_to_open(const std::string& what) const {
  const int reason = errno;
  ::close(descriptor_);
  errno = reason;
  fail(what);
}

void PartialFile::fail(const std::string& what) const {
  const std::string reason = std::generic_category().message(errno);
  throw penstock::Error(penstock::Errc::io_error, path_.string() + ": " + what + ": " + reason);
}

}  // namespace trainer
