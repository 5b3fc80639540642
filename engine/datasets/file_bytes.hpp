// FileBytes gives a file's content as one stream of bytes. A gzipped file is inflated; it is
// recognized by its first bytes and not by its name. The file may be damaged or hostile.
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

/// Returns the path of the file `name` in `directory` or, if there is none, of the file `name`.gz
/// there, or nothing if neither exists. @throws Error io_error if the system does not tell whether
/// a file exists, for instance because the directory may not be searched.
std::optional<std::string> find_file(const std::string& directory, const std::string& name);
/// Returns the path that find_file() returns. @throws Error as find_file(); io_error, which says
/// that `what` was expected, if find_file() returns nothing.
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

  /// Returns the largest number of bytes that the stream can have: the file's size, or the size to
  /// which a gzipped file of that size can inflate.
  std::uint64_t most_bytes() const noexcept;
  /// Returns the number of bytes in the stream, which is the size that the file had when it was
  /// opened, or nothing if the file is gzipped.
  std::optional<std::uint64_t> exact_bytes() const noexcept {
    return gzipped_ ? std::nullopt : std::optional(file_.bytes());
  }
  /// Refuses what is in the file. @throws Error corrupt_file: the file's name, and `text`.
  [[noreturn]] void refuse(const std::string& text) const;
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
  // The fields next_in and avail_in say which bytes of buffer_ were not used yet, whether the file
  // is gzipped or not.
  z_stream zlib_{};
  bool gzipped_ = false;
  bool ended_ = false;
};

}  // namespace penstock
