#include "engine/checkpoint/directory_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "engine/files/output_target.hpp"
#include "engine/files/replaceable.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr const char* lock_name = ".penstock-lock";

std::string name_of(const std::filesystem::path& file) {
  return "checkpoint directory \"" + printable(file.parent_path().native()) + '"';
}

/// Returns " by process 1234" if the locked file says so, and an empty text otherwise.
std::string holder(int descriptor) {
  std::array<char, 20> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  const std::string digits(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  const bool is_number =
      !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? " by process " + digits : "";
}

/// Writes the number of this process to the locked file. A failure is ignored, because the number
/// only makes the text of an error more helpful.
void write_holder(int descriptor) {
  const std::string digits = std::to_string(::getpid());
  if (::ftruncate(descriptor, 0) != 0) return;
  [[maybe_unused]] const ssize_t size = ::pwrite(descriptor, digits.data(), digits.size(), 0);
}

}  // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path& directory)
    : file_(directory / lock_name) {
  do descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0)
    throw Error(Errc::io_error,
                name_of(file_) + ": no file can be made in it: " + system_message(errno));
  int refused = 0;
  do refused = ::flock(descriptor_, LOCK_EX | LOCK_NB);
  while (refused != 0 && errno == EINTR);
  if (refused == 0) {
    write_holder(descriptor_);
    return;
  }
  const int error = errno;
  const std::string by = holder(descriptor_);
  ::close(descriptor_);
  if (error == EWOULDBLOCK)
    throw Error(Errc::busy, name_of(file_) + ": is in use" + by +
                                "; two runs cannot keep their checkpoints in one directory");
  throw Error(Errc::io_error, name_of(file_) + ": cannot be locked: " + system_message(error));
}

DirectoryLock::~DirectoryLock() {
  ::close(descriptor_);
}

void DirectoryLock::expect_held() const {
  struct stat held = {}, there = {};
  if (::fstat(descriptor_, &held) == 0 && ::stat(file_.c_str(), &there) == 0 &&
      same_file(held, there))
    return;
  throw Error(Errc::io_error,
              name_of(file_) + ": was removed or replaced while a run kept its checkpoints there");
}

}  // namespace penstock
