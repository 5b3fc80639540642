#include "apps/trainer/peak_memory.hpp"

#include <fstream>
#include <string>

namespace trainer {

// getrusage() would also count the peak that the parent process had before exec().
std::int64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace trainer
