// InputFile is a regular file that is read from its beginning to its end. The file may be damaged
// or hostile: no pipe or device is ever opened, and a link can be refused. One thread at a time
// uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace penstock {

class InputFile {
 public:
  enum class Links : std::uint8_t { followed, refused };

  /// Opens the file at `path`; the texts of errors call it `name`. @throws Error io_error if the
  /// file cannot be opened, is no regular file, or is a link although `links` refuses links.
  InputFile(const std::filesystem::path& path, std::string name, Links links = Links::followed);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Returns the size in bytes that the file had when it was opened.
  std::uint64_t bytes() const noexcept { return bytes_; }
  int descriptor() const noexcept { return descriptor_; }

  /// Fills `destination` and returns how many bytes it has read: all, unless the file ends.
  /// @throws Error io_error if the file cannot be read.
  std::size_t read(std::span<std::byte> destination);

 private:
  [[noreturn]] void fail(int error_number) const;
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string name_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace penstock
