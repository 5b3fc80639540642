// A Screen is where the monitor shows one picture after the other: a terminal, whose content it
// replaces in place, or a stream of plain lines. One thread uses it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace monitor {

class Screen {
 public:
  /// Takes the terminal of stdout, if that is one. Its content comes back at the end, also if the
  /// program is interrupted.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Returns how many characters a line may have, or 0 if there is no limit.
  std::size_t width() const;
  /// Shows `lines`, as many as there is place for, and says how many there are besides.
  /// @throws penstock::Error io_error if nobody can read them.
  void show(const std::vector<std::string>& lines);
  /// Waits for so many seconds; less if the program is interrupted or the terminal changes its
  /// size.
  void wait(double seconds) const;
  /// Returns whether the program is to end.
  static bool interrupted() noexcept;

 private:
  const bool terminal_;
  bool shown_ = false;
};

/// Writes `text` to stdout. @throws penstock::Error io_error if that fails.
void print(const std::string& text);

}  // namespace monitor
