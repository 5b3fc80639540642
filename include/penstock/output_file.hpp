// An OutputFile is a file that appears whole or not at all. It owns a temporary file in the
// target's directory, which replaces the target at commit() and is removed otherwise. Where the
// file system has files without names (ext4, xfs, btrfs, tmpfs), nothing is left even if the
// process is killed, except in one instant: a process that is killed while commit() renames the
// temporary file may leave that file behind, complete, as ".penstock-PROCESS-NUMBER.tmp". One
// thread at a time uses an OutputFile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "penstock/standard.hpp"

namespace penstock {

class TemporaryFile;

/// An OutputFile is a file that appears whole, at commit(), or not at all.
class OutputFile {
 public:
  /// Links say what happens if the target is a symbolic link.
  enum class Links : std::uint8_t {
    followed,  ///< The file that the link leads to is written, even if it does not exist yet.
    refused,   ///< Nothing is ever written through a link.
  };

  /// Creates the temporary file, so that a target that cannot be written is refused at once. The
  /// new file gets the permissions of the file that it replaces, and its owner and group if this
  /// user may set them. If the group cannot be set, the group of the new file gets only the
  /// permissions that others have.
  /// @throws Error io_error, naming the target, if its directory does not exist or is not writable,
  /// or if the target is anything but a writable regular file that this user may replace;
  /// out_of_memory.
  explicit OutputFile(const std::filesystem::path& target, Links links = Links::followed);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends `text`. @throws Error io_error, for example if the disk is full; out_of_memory. The
  /// file then has a gap, and every later call throws io_error.
  void write(std::string_view text);
  /// Appends `bytes`. @throws Error as write() of a text.
  void write(std::span<const std::byte> bytes);

  /// Writes everything to disk, so that commit() only has to rename the file. @throws Error
  /// io_error or out_of_memory.
  void sync();
  /// Replaces the target by what was written, and writes its directory to the disk. Nothing may be
  /// written afterwards. @throws Error io_error or out_of_memory, and the call may be made again.
  /// The target is unchanged then, unless the text says that only its directory was not written to
  /// the disk.
  void commit();

 private:
  void open(const std::filesystem::path& target, Links links);
  void expect_whole() const;
  void flush();
  template <class Action>
  void reporting(const Action& action) const;
  void sync_directory() const;
  [[noreturn]] void fail(int error_number) const;
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string name_;  ///< `name_` is the name of the target in messages, as the caller spelled it.
  std::filesystem::path target_;
  std::filesystem::path directory_;
  /// `temporary_` is null once the file is in place.
  std::unique_ptr<TemporaryFile> temporary_;
  std::string buffer_;
  bool has_gap_ = false;  ///< `has_gap_` is set once a write has failed.
};

}  // namespace penstock
