// Progress says on stderr how far a run is: by a bar that is drawn over itself on a terminal, and
// by a plain line now and then elsewhere. One thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "penstock/options.hpp"

namespace trainer {

/// Returns a line of four parts: `description` and a colon, which are left out if it is empty; the
/// percentage; a bar; and a text such as "15/15 [00:01<00:00, 14.89it/s]".
std::string bar_line(const std::string& description, std::int64_t done, std::int64_t total,
                     double seconds);

/// Returns the line for a place among other lines, such as "Epoch 1/3: 3/15 [00:01<00:04, 2.81it/s]
/// Loss:0.1422".
std::string plain_line(const std::string& title, const std::string& description, std::int64_t done,
                       std::int64_t total, double seconds);

struct ProgressStream {
  bool terminal = false;
  std::function<void(const std::string&)> write = {};
  std::function<double()> seconds = {};  ///< Is a clock that never goes back.
  /// Returns how many columns the terminal has now, or 0 if nobody knows. Without it nobody does.
  std::function<std::size_t()> columns = {};

  /// Returns the process's stderr and steady clock. With `among_lines`, others write there too, and
  /// a terminal gets no bar that they would break.
  static ProgressStream standard_error(bool among_lines);
  /// Returns a stream that nobody reads, with the same clock.
  static ProgressStream silent();
};

/// Returns what draws a bar of a hundred ticks on a terminal while a model is compiled; elsewhere
/// it returns nothing. `stream` outlives it.
std::function<void(const penstock::CompileProgress&)> compile_bar(const ProgressStream& stream,
                                                                  const std::string& title);

/// Shows one task of `total` steps. It ends its line when it goes out of scope.
class Progress {
 public:
  Progress(const ProgressStream& stream, std::string title, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Notes that one more step is done.
  void advance(const std::string& description);
  /// Ends the bar's line, so that others may write; the next bar begins one.
  void make_room();

 private:
  bool bar_is_due(double now) const;
  bool line_is_due() const;
  void draw_bar(const std::string& description, double now);
  void write_line(const std::string& description, double now);

  const ProgressStream& stream_;
  std::string title_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  std::int64_t shown_ = 0;  ///< Is `done_` when it was last shown.
  double begin_;
  double shown_at_;
  /// Is the width of the bar on the terminal's line, or 0 without one.
  std::size_t bar_columns_ = 0;
};

}  // namespace trainer
