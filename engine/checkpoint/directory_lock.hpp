// A DirectoryLock keeps other processes, and other parts of this one, from using a directory at the
// same time. The system releases the lock when its process ends, however that happens.
#pragma once

#include <filesystem>

namespace penstock {

class DirectoryLock {
 public:
  /// Locks `directory`, in which it makes the file ".penstock-lock" unless the file exists.
  /// @throws Error busy if the directory is locked, naming the process that has the lock; io_error
  /// if the file cannot be made.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  /// Checks that the directory still has the file that was locked. @throws Error io_error if the
  /// directory was removed or replaced meanwhile.
  void expect_held() const;

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace penstock
