// TemporaryFile: a file that becomes another one or vanishes. Where the file system can, it has no
// name until then, so that not even a killed process leaves it behind. Used from one thread at a
// time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace penstock {

class TemporaryFile {
 public:
  enum class Name : std::uint8_t {
    avoided,  ///< has a name only where the file system insists
    needed,   ///< has a name from the start
  };

  /// A new file, open for writing. It is made with the permissions `mode`, less the process's
  /// umask.
  /// @throws std::system_error
  explicit TemporaryFile(const std::filesystem::path& directory, Name name = Name::avoided,
                         mode_t mode = 0666);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const noexcept { return descriptor_; }

  /// Becomes `target`, a path in the same directory, in place of what was there; once. Of a link
  /// that was there, the link itself is replaced.
  /// @throws std::system_error; the target is then as it was.
  void become(const std::filesystem::path& target);

  /// Removes from a directory those that had a name, were last written longer than `age` ago, and
  /// belong to no process that this one can see. What cannot be removed stays.
  static void remove_abandoned(const std::filesystem::path& directory, std::chrono::seconds age);

 private:
  void open_nameless(mode_t mode);
  void open_named(mode_t mode);
  bool link_to(const std::filesystem::path& path) const noexcept;
  void take_name();

  std::filesystem::path directory_;
  std::filesystem::path name_ = {};  ///< empty: none
  int descriptor_ = -1;
};

}  // namespace penstock
