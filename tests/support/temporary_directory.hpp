// A TemporaryDirectory is a new empty directory for one test. The destructor removes it with all
// its files.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace penstock::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Returns the path of the file `name` in the directory.
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  /// Returns the names of all files and directories in the directory.
  std::set<std::string> entries() const;

 private:
  std::filesystem::path path_;
};

/// Returns the bytes of the file `path`. @throws std::runtime_error if it cannot be read.
std::string file_content(const std::filesystem::path& path);
/// Creates or replaces the file `path`. @throws std::runtime_error if it cannot be written.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace penstock::testing
