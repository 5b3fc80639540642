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
#include "graph/values/canonical_floats.hpp"
#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::size_t write_bytes = 1 << 16;

/// Writes to disk what a rename has changed in a directory. A failure is ignored, because some file
/// systems cannot sync a directory.
void sync_directory(const std::filesystem::path& directory) noexcept {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

/// Returns whether the process's standard output or error goes to `file`, which must not be
/// replaced then: the new file would have neither what the process wrote there before nor what it
/// writes afterwards.
bool is_standard_stream(const struct stat& file) {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream = {};
    if (::fstat(descriptor, &stream) == 0 && same_file(stream, file)) return true;
  }
  return false;
}

/// Returns the absolute path of the file that `target` leads to when links are followed. The file
/// need not exist. If the system does not tell where a link leads, `target` is followed only up to
/// that link.
std::filesystem::path followed(const std::filesystem::path& target) {
  constexpr int most_links = 40;  // Linux follows at most 40 links.
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(target, error);
  for (int links = 0; links < most_links; ++links) {
    const auto resolved = std::filesystem::canonical(path, error);
    if (!error) return resolved;
    // The path may lead to a pipe, which has no canonical path.
    if (std::filesystem::exists(path, error)) return path;
    const auto link = std::filesystem::read_symlink(path, error);
    if (error) return path;
    path = path.parent_path() / link;
  }
  return path;
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

std::string text_of(int error_number) {
  return std::generic_category().message(error_number);
}

/// Returns why the file at `target` cannot be replaced, or an empty text if it can, or if it was
/// removed since `existing` was read. If `target` is a link, `existing` describes the link, and not
/// the file that the link leads to.
std::string obstacle(const std::filesystem::path& target, const std::filesystem::path& directory,
                     const struct stat& existing) {
  struct stat linked = existing;
  if (S_ISLNK(existing.st_mode) && ::stat(target.c_str(), &linked) != 0 && errno != ENOENT)
    return text_of(errno);
  if (S_ISDIR(linked.st_mode)) return text_of(EISDIR);
  if (!S_ISREG(linked.st_mode) && !S_ISLNK(linked.st_mode)) return "it is not a regular file";
  if (S_ISLNK(existing.st_mode)) return "it is a link";
  if (is_standard_stream(existing))
    return "the standard output or error goes there; name another file";
  if (::access(target.c_str(), W_OK) != 0) return errno == ENOENT ? "" : text_of(errno);
  struct stat parent = {};
  if (::stat(directory.c_str(), &parent) == 0 && !replaceable(parent, existing, ::geteuid()))
    return "it belongs to another user, and its directory lets only the owner replace it";
  return {};
}

}  // namespace

/// Calls `action`. A std::system_error that it throws, or a lack of memory, becomes an Error that
/// names the file.
template <class Action>
void OutputFile::reporting(const Action& action) const {
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
  sync();
  reporting([&] {
    const CanonicalFloats floats;
    temporary_->become(target_);
  });
  temporary_.reset();
  sync_directory(directory_);
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
  refuse(text_of(error_number));
}

void OutputFile::refuse(const std::string& reason) const {
  throw Error(Errc::io_error, "cannot write \"" + name_ + "\": " + reason);
}

}  // namespace penstock
