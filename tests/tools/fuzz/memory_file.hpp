// A MemoryFile is a file in memory. It spares the disk where a test reads files by the million.
#pragma once

#include <string>

namespace penstock::testing {

class MemoryFile {
 public:
  /// Makes an empty file. @throws std::runtime_error if the system cannot make one.
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Returns a path by which this process can open the file and read it from its beginning.
  std::string path() const;
  /// Replaces the content of the file by `bytes`.
  void write(const std::string& bytes);

 private:
  int descriptor_;
};

}  // namespace penstock::testing
