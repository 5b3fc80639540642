// InputFile: a regular file, read from its beginning to its end. Made for files that may be damaged
// or hostile: a pipe or device is never opened, and a link can be refused. Used from one thread at
// a time.
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

  /// `name` is what errors call the file by; they open with it.
  /// @throws Error io_error if it cannot be opened, or is no regular file.
  InputFile(const std::filesystem::path& path, std::string name, Links links = Links::followed);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The size that the file had when it was opened.
  std::uint64_t bytes() const noexcept { return bytes_; }
  int descriptor() const noexcept { return descriptor_; }

  /// Fills `destination` and returns how much of it; less than all only at the end.
  /// @throws Error io_error
  std::size_t read(std::span<std::byte> destination);

 private:
  [[noreturn]] void fail(int error_number) const;
  [[noreturn]] void refuse(const std::string& reason) const;

  std::string name_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace penstock
