// FileBytes gives a file's content as one stream of bytes, inflated on the way if the file is
// gzipped, which its first bytes tell, never its name. It is made for files that may be damaged or
// hostile.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/files/input_file.hpp"

namespace penstock {

/// Returns the path of the file `name` in `directory`, plain or with .gz behind it, or nothing if
/// there is none. @throws Error io_error if that cannot be told, as in a directory that may not be
/// searched.
std::optional<std::string> find_file(const std::string& directory, const std::string& name);
/// Returns what find_file() returns. @throws Error as find_file(); io_error, naming `what`, if
/// there is no such file.
std::string expect_file(const std::string& directory, const std::string& name,
                        const std::string& what);

class FileBytes {
 public:
  /// Opens the file at `path`. @throws Error io_error naming the file; std::bad_alloc.
  explicit FileBytes(const std::string& path);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  /// Fills `destination` and returns how many bytes it has read: all, unless the stream ends.
  /// @throws Error io_error, corrupt_file naming the file.
  std::size_t read(std::span<std::uint8_t> destination);

  /// Returns a length that no stream from this file exceeds: the file's size, or what a gzipped
  /// file of that size can inflate to.
  std::uint64_t most_bytes() const noexcept;
  /// Returns how long the stream is, which is as long as the file was when it was opened, or
  /// nothing if the file is gzipped.
  std::optional<std::uint64_t> exact_bytes() const noexcept {
    return gzipped_ ? std::nullopt : std::optional(file_.bytes());
  }
  /// Returns the file's name as messages show it.
  const std::string& path() const noexcept { return path_; }

 private:
  void refill();
  std::size_t copy(std::span<std::uint8_t> destination);
  void inflate_some();
  void end_member();

  std::string path_;
  InputFile file_;
  std::vector<std::uint8_t> buffer_;
  // The fields next_in and avail_in say which bytes of buffer_ are left, whether the file is
  // gzipped or not.
  z_stream zlib_{};
  bool gzipped_ = false;
  bool ended_ = false;
};

}  // namespace penstock
