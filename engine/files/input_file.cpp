#include "engine/files/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "actors/threads/uncancelled.hpp"
#include "penstock/error.hpp"

namespace penstock {

InputFile::InputFile(const std::filesystem::path& path, std::string name, Links links)
    : name_(std::move(name)) {
  // The path is checked before the file is opened, because opening some devices has an effect. The
  // open file is checked again, because the path may have been replaced in between.
  const bool follows = links == Links::followed;
  struct stat status = {};
  if ((follows ? ::stat(path.c_str(), &status) : ::lstat(path.c_str(), &status)) != 0) fail(errno);
  const char* const other = follows ? "expected a file, got a directory or device"
                                    : "expected a file, got a directory, link or device";
  if (!S_ISREG(status.st_mode)) refuse(other);
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follows ? 0 : O_NOFOLLOW);
  do descriptor_ = ::open(path.c_str(), flags);
  while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) fail(errno);
  if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    bytes_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  ::close(descriptor_);
  refuse(other);
}

InputFile::~InputFile() {
  const actors::Uncancelled uncancelled;
  ::close(descriptor_);
}

std::size_t InputFile::read(std::span<std::byte> destination) {
  constexpr std::size_t most = std::size_t{1} << 30;  // The system reads less than 2 GiB at once.
  std::size_t done = 0;
  while (done < destination.size()) {
    const ssize_t got =
        ::read(descriptor_, destination.data() + done, std::min(destination.size() - done, most));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void InputFile::fail(int error_number) const {
  refuse(error_number == ENOENT ? "no such file" : std::generic_category().message(error_number));
}

void InputFile::refuse(const std::string& reason) const {
  throw Error(Errc::io_error, name_ + ": " + reason);
}

}  // namespace penstock
