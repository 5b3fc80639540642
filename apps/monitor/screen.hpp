// A Screen shows one picture of the monitor after the other: on a terminal, where each picture
// takes the place of the one before, or on a stream of plain lines. One thread uses a Screen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace monitor {

class Screen {
 public:
  /// Takes over the terminal if stdout is a terminal; the destructor brings back what was on the
  /// terminal before. From now on, SIGINT, SIGTERM and SIGHUP do not end the process, but make
  /// interrupted() true.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Returns how many characters a line may have, or 0 if there is no limit.
  std::size_t width() const;
  /// Shows as many of `lines` as the terminal has room for, and the number of lines left out.
  /// @throws penstock::Error io_error if stdout cannot be written.
  void show(const std::vector<std::string>& lines);
  /// Waits for `seconds`. The wait ends earlier if the program is interrupted or the terminal
  /// changes its size.
  void wait(double seconds) const;
  /// Returns whether a signal has asked the program to end.
  static bool interrupted() noexcept;

 private:
  const bool terminal_;
  bool shown_ = false;
};

/// Writes `text` to stdout. @throws penstock::Error io_error if stdout cannot be written.
void print(const std::string& text);

}  // namespace monitor
