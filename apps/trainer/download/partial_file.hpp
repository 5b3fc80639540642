// A PartialFile is a file that comes in parts, over one or several runs of the program. Until it is
// whole, it stands beside its place under the name of the file with ".penstock-part" behind it,
// which no other program gives its files. One process at a time has it open, and one thread uses
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace trainer {

/// NewDirectories are those of a path that were not there. They vanish again if they stay empty.
class NewDirectories {
 public:
  /// Makes the directory `path`, as far as that is possible.
  explicit NewDirectories(const std::filesystem::path& path);
  ~NewDirectories();
  NewDirectories(const NewDirectories&) = delete;
  NewDirectories& operator=(const NewDirectories&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  ///< The innermost one is first.
};

class PartialFile {
 public:
  /// Removes what has come of the file `target`, unless another process has it open.
  static void discard(const std::filesystem::path& target) noexcept;

  /// Opens what has come of the file `target` so far, or begins it. The directory is made if need
  /// be, and vanishes again with the object if it is empty then. @throws penstock::Error io_error;
  /// busy if another process has it open.
  explicit PartialFile(const std::filesystem::path& target);
  /// Leaves what has come for the next run, and no file if nothing has.
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  /// Returns where the parts stand.
  const std::filesystem::path& path() const noexcept { return path_; }
  /// Returns how many bytes have come.
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Appends `bytes`. @throws penstock::Error io_error, for example if the disk is full.
  void append(std::span<const std::byte> bytes);
  /// Removes what has come, so that the file begins anew. @throws penstock::Error io_error.
  void clear();
  /// Brings all bytes to the disk, and puts the file into its place. Nothing may be called
  /// afterwards. @throws penstock::Error io_error.
  void put_in_place();
  /// Removes the file. Nothing may be called afterwards.
  void remove() noexcept;

 private:
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_to_open(const std::string& what) const;

  std::filesystem::path target_;
  std::filesystem::path path_;
  NewDirectories directories_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
  bool is_over_ = false;  ///< `is_over_` says that the file was put in place or removed.
};

}  // namespace trainer
