// OutputFile: a file that appears whole or not at all. Owns a temporary in the target's directory,
// which replaces it at `commit` and goes away otherwise, without a trace even if the process is
// killed (where the file system has files without names: ext4, xfs, btrfs, tmpfs). Used from one
// thread at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace penstock {

class TemporaryFile;

class OutputFile {
 public:
  /// Creates the temporary, so that a target that cannot be written is refused at once. A link is
  /// followed; an existing target keeps its permissions.
  /// @throws Error io_error naming the target if its directory is missing or not writable, or if it
  /// is something other than a writable regular file that this user may replace.
  explicit OutputFile(const std::filesystem::path& target);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends. @throws Error io_error, e.g. if the disk is full.
  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);

  /// Brings what was written to disk, so that of what commit() does nothing but a rename is left.
  /// @throws Error io_error.
  void sync();
  /// Replaces the target by what was written; nothing may be written afterwards.
  /// @throws Error io_error; the target is then as it was.
  void commit();

 private:
  void flush();
  [[noreturn]] void fail(int error_number) const;
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string name_;  ///< as the caller gave it, for messages
  std::filesystem::path target_;
  std::unique_ptr<TemporaryFile> temporary_;  ///< none after `commit`
  std::string buffer_;
};

}  // namespace penstock
