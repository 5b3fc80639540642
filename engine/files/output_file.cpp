#include "penstock/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <system_error>

#include "actors/threads/uncancelled.hpp"
#include "engine/files/output_target.hpp"
#include "engine/files/replaceable.hpp"
#include "engine/files/temporary_file.hpp"
#include "graph/values/canonical_floats.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::size_t write_bytes = 1 << 16;

/// Returns whether `error` says that a directory cannot be written to the disk because its file
/// system has no such operation, or because this user may write to it but not read it.
bool is_no_failure(int error) {
  return error == EINVAL || error == ENOTSUP || error == ENOSYS || error == EACCES;
}

/// Gives the new file at `descriptor` the owner, group and permissions of the file `replaced`, as
/// far as this user may.
void keep_access(int descriptor, const struct stat& replaced) noexcept {
  const bool keeps_group = ::fchown(descriptor, replaced.st_uid, replaced.st_gid) == 0 ||
                           ::fchown(descriptor, static_cast<uid_t>(-1), replaced.st_gid) == 0;
  struct stat replacing = {};
  const bool keeps_owner =
      ::fstat(descriptor, &replacing) == 0 && replacing.st_uid == replaced.st_uid;
  ::fchmod(descriptor, kept_mode(replaced.st_mode, keeps_owner, keeps_group));
}

}  // namespace

/// Calls `action`, in which the thread is not cancelled. A std::system_error that it throws, or a
/// lack of memory, becomes an Error that names the file.
template <class Action>
void OutputFile::reporting(const Action& action) const {
  const actors::Uncancelled uncancelled;
  or_out_of_memory(name_, [&] {
    try {
      action();
    } catch (const std::system_error& refused) {
      fail(refused.code().value());
    }
  });
}

OutputFile::OutputFile(const std::filesystem::path& target, Links links)
    : name_(or_out_of_memory("cannot write a file", [&] { return printable(target.native()); })) {
  reporting([&] {
    // The constructor of std::filesystem::path computes in double.
    const CanonicalFloats floats;
    open(target, links);
  });
}

OutputFile::~OutputFile() = default;

void OutputFile::open(const std::filesystem::path& target, Links links) {
  std::error_code error;
  target_ = links == Links::followed ? followed(target) : std::filesystem::absolute(target, error);
  if (!target_.has_filename()) fail(target.empty() ? ENOENT : EISDIR);
  directory_ = target_.parent_path();

  struct stat existing = {};
  const bool exists = ::lstat(target_.c_str(), &existing) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  if (exists)
    if (const std::string reason = obstacle(target_, directory_, existing); !reason.empty())
      refuse(reason);
  temporary_ = std::make_unique<TemporaryFile>(directory_, TemporaryFile::Name::avoided,
                                               exists ? existing.st_mode & 0777 : 0666);
  if (exists) keep_access(temporary_->descriptor(), existing);
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void OutputFile::write(std::span<const std::byte> bytes) {
  assert(temporary_);
  reporting([&] {
    expect_whole();
    has_gap_ = true;  // `has_gap_` stays true if a write throws.
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), write_bytes - buffer_.size()));
      buffer_.append(reinterpret_cast<const char*>(part.data()), part.size());
      bytes = bytes.subspan(part.size());
      if (buffer_.size() == write_bytes) flush();
    }
    has_gap_ = false;
  });
}

void OutputFile::sync() {
  assert(temporary_);
  reporting([&] {
    expect_whole();
    flush();
    if (::fsync(temporary_->descriptor()) != 0) fail(errno);
  });
}

void OutputFile::commit() {
  const actors::Uncancelled uncancelled;
  if (temporary_) sync();
  reporting([&] {
    const CanonicalFloats floats;
    if (temporary_) temporary_->become(target_);
    temporary_.reset();
    sync_directory();
  });
}

/// Writes to the disk what a rename has changed in the directory.
void OutputFile::sync_directory() const {
  const int descriptor = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = descriptor < 0 || ::fsync(descriptor) != 0 ? errno : 0;
  if (descriptor >= 0) ::close(descriptor);
  if (error != 0 && !is_no_failure(error))
    refuse("it is in place, but its directory was not written to the disk: " +
           system_message(error));
}

void OutputFile::expect_whole() const {
  if (has_gap_) refuse("an earlier write to it has failed; write it again from the beginning");
}

// Bytes that were written leave the buffer at once, so that sync() and commit() can be called again
// after a failure.
void OutputFile::flush() {
  while (!buffer_.empty()) {
    const ssize_t written = ::write(temporary_->descriptor(), buffer_.data(), buffer_.size());
    if (written < 0 && errno != EINTR) fail(errno);
    if (written > 0) buffer_.erase(0, static_cast<std::size_t>(written));
  }
}

void OutputFile::fail(int error_number) const {
  refuse(system_message(error_number));
}

void OutputFile::refuse(const std::string& reason) const {
  throw Error(Errc::io_error, "cannot write \"" + name_ + "\": " + reason);
}

}  // namespace penstock
