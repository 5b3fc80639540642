#include "engine/files/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace penstock {
namespace {

constexpr mode_t mode = 0666;  // less the process's umask

/// Short, whatever the target is called: a name may have 255 bytes and no more.
std::string unique_name() {
  static std::atomic<unsigned> count{0};
  return ".penstock-" + std::to_string(::getpid()) + '-' + std::to_string(count++) + ".tmp";
}

/// Where Linux shows an open file to linkat.
std::string link_source(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

[[noreturn]] void fail() {
  throw std::system_error(errno, std::generic_category());
}

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& directory, Name name)
    : directory_(directory) {
  if (name == Name::avoided) open_nameless();
  if (descriptor_ < 0) open_named();
}

TemporaryFile::~TemporaryFile() {
  ::close(descriptor_);
  if (!name_.empty()) ::unlink(name_.c_str());
}

void TemporaryFile::become(const std::filesystem::path& target) {
  if (name_.empty() && link_to(target)) return;
  if (name_.empty()) take_name();
  if (std::rename(name_.c_str(), target.c_str()) != 0) fail();
  name_.clear();
}

void TemporaryFile::open_nameless() {
  do descriptor_ = ::open(directory_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  while (descriptor_ < 0 && errno == EINTR);
  // Without /proc it could never get a name.
  if (descriptor_ < 0 || ::access(link_source(descriptor_).c_str(), F_OK) == 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
}

void TemporaryFile::open_named() {
  do {
    name_ = directory_ / unique_name();
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) fail();
}

bool TemporaryFile::link_to(const std::filesystem::path& path) const noexcept {
  return ::linkat(AT_FDCWD, link_source(descriptor_).c_str(), AT_FDCWD, path.c_str(),
                  AT_SYMLINK_FOLLOW) == 0;
}

void TemporaryFile::take_name() {
  std::filesystem::path name = directory_ / unique_name();
  while (!link_to(name)) {
    if (errno != EEXIST) fail();
    name = directory_ / unique_name();
  }
  name_ = name;
}

}  // namespace penstock
