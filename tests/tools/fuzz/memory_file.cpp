#include "tests/tools/fuzz/memory_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

namespace penstock::testing {

MemoryFile::MemoryFile() : descriptor_(::memfd_create("fuzzed", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::runtime_error("cannot make a file in memory");
}

MemoryFile::~MemoryFile() {
  ::close(descriptor_);
}

std::string MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

void MemoryFile::write(const std::string& bytes) {
  const auto size = static_cast<ssize_t>(bytes.size());
  if (::ftruncate(descriptor_, 0) != 0 ||
      ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != size)
    throw std::runtime_error("cannot write a file in memory");
}

}  // namespace penstock::testing
