// TemporaryFile is a new file that either gets a path, where it replaces another file, or is
// removed. If the file system allows it, the new file has no name until then, so that not even a
// killed process leaves it behind, unless it is killed just when the file replaces another one. One
// thread at a time uses it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace penstock {

class TemporaryFile {
 public:
  enum class Name : std::uint8_t {
    avoided,  ///< The file has a name only if the file system needs one.
    needed,   ///< The file has a name from the start.
  };

  /// Makes a new file in `directory` and opens it for writing. It has the permissions `mode`,
  /// without the bits of the process's umask.
  /// @throws std::system_error
  explicit TemporaryFile(const std::filesystem::path& directory, Name name = Name::avoided,
                         mode_t mode = 0666);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const noexcept { return descriptor_; }

  /// Gives the file the path `target`, which is in the file's directory, and replaces a file that
  /// was there. The function may be called once. If `target` is a link, the link itself is
  /// replaced.
  /// @throws std::system_error; a file at `target` is then unchanged.
  void become(const std::filesystem::path& target);

  /// Removes from `directory` the temporary files with names that were last written longer than
  /// `age` ago and were made by processes that have ended or that this process cannot see. A file
  /// that cannot be removed stays.
  static void remove_abandoned(const std::filesystem::path& directory, std::chrono::seconds age);

 private:
  void open_nameless(mode_t mode);
  void open_named(mode_t mode);
  bool link_to(const std::filesystem::path& path) const noexcept;
  void take_name();

  std::filesystem::path directory_;
  std::filesystem::path name_ = {};  ///< `name_` is empty while the file has no name.
  int descriptor_ = -1;
};

}  // namespace penstock
