// A MemoryFile is a file without a disk, for what is read from files by the million.
#pragma once

#include <string>

namespace penstock::testing {

class MemoryFile {
 public:
  /// @throws std::runtime_error if the system has none.
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Whoever opens this path in this process reads the file from its beginning.
  std::string path() const;
  /// Replaces what the file holds.
  void write(const std::string& bytes);

 private:
  int descriptor_;
};

}  // namespace penstock::testing
