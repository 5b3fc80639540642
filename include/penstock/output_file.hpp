// OutputFile: a file that appears whole or not at all. Owns a temporary in the target's directory,
// which replaces it at `commit` and goes away otherwise, without a trace even if the process is
// killed (where the file system has files without names: ext4, xfs, btrfs, tmpfs), but for one
// instant: a process that is killed while `commit` renames the temporary may leave that behind,
// whole, as ".penstock-PROCESS-NUMBER.tmp". Used from one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace penstock {

class TemporaryFile;

/// An OutputFile is a file that appears whole, at commit(), or not at all.
class OutputFile {
 public:
  /// Says what is done with a target that is a symbolic link.
  enum class Links : std::uint8_t {
    followed,  ///< The file that the link leads to is written, even if it is not there yet.
    refused,   ///< Nothing is ever written through a link.
  };

  /// Creates the temporary, so that a target that cannot be written is refused at once. The new
  /// file gets the permissions of the one that it replaces, and its owner and group if this user
  /// may give them. A group that is not kept loses what others may not do.
  /// @throws Error io_error naming the target if its directory is missing or not writable, or if it
  /// is something other than a writable regular file that this user may replace; out_of_memory.
  explicit OutputFile(const std::filesystem::path& target, Links links = Links::followed);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends. @throws Error io_error, e.g. if the disk is full; out_of_memory. The file has a gap
  /// then: whatever is called of it afterwards throws io_error, too.
  void write(std::string_view text);
  /// Appends bytes. @throws Error as above.
  void write(std::span<const std::byte> bytes);

  /// Brings what was written to disk, so that of what commit() does nothing but a rename is left.
  /// @throws Error io_error or out_of_memory.
  void sync();
  /// Replaces the target by what was written; nothing may be written afterwards.
  /// @throws Error io_error or out_of_memory; the target is then as it was, and the call may be
  /// made again.
  void commit();

 private:
  void open(const std::filesystem::path& target, Links links);
  void expect_whole() const;
  void flush();
  template <class Action>
  void reporting(const Action& action) const;
  [[noreturn]] void fail(int error_number) const;
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string name_;  ///< as the caller gave it, for messages
  std::filesystem::path target_;
  std::filesystem::path directory_;
  std::unique_ptr<TemporaryFile> temporary_;  ///< none after `commit`
  std::string buffer_;
  bool has_gap_ = false;  ///< since a write has failed
};

}  // namespace penstock
