// A Progress says on stderr how far a run is: by a bar that is drawn over itself on a terminal, and
// by a plain line now and then elsewhere. One thread uses a Progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "penstock/options.hpp"

namespace trainer {

/// Returns a line of four parts: `description` and a colon, which are left out if `description` is
/// empty; the percentage; a bar; and a text such as "15/15 [00:01<00:00, 14.89it/s]".
std::string bar_line(const std::string& description, std::int64_t done, std::int64_t total,
                     double seconds);

/// Returns a line that can stand among other lines, such as "Epoch 1/3: 3/15
/// [00:01<00:04, 2.81it/s] Loss:0.1422".
std::string plain_line(const std::string& title, const std::string& description, std::int64_t done,
                       std::int64_t total, double seconds);

struct ProgressStream {
  bool terminal = false;
  std::function<void(const std::string&)> write = {};
  std::function<double()> seconds = {};  ///< `seconds` reads a clock that never goes back.
  /// Returns how many columns the terminal has now, or 0 if the number is not known. If the
  /// function is empty, the number is not known either.
  std::function<std::size_t()> columns = {};

  /// Returns a stream to stderr that has the process's steady clock. `among_lines` says that other
  /// lines are written to stderr, too; the stream is then no terminal, even if stderr is one,
  /// because the lines would break a bar.
  static ProgressStream standard_error(bool among_lines);
  /// Returns a stream that writes nothing and has the process's steady clock.
  static ProgressStream silent();
};

/// Returns a function that draws a bar of a hundred ticks while a model is compiled, or an empty
/// function if `stream` is not a terminal. `stream` must outlive the function.
std::function<void(const penstock::CompileProgress&)> compile_bar(const ProgressStream& stream,
                                                                  const std::string& title);

/// A Progress shows how far a task of `total` steps is, `done` of which are done already. The
/// destructor ends the bar's line.
class Progress {
 public:
  Progress(const ProgressStream& stream, std::string title, std::int64_t total,
           std::int64_t done = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Notes that one more step is done.
  void advance(const std::string& description);
  /// Ends the bar's line, so that other lines may be written. The next bar begins a new line.
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
  std::int64_t shown_ = 0;  ///< `shown_` is the value of `done_` that was shown last.
  double begin_;
  double shown_at_;
  /// `bar_columns_` is the width of the bar on the terminal's line, or 0 if there is no bar.
  std::size_t bar_columns_ = 0;
};

}  // namespace trainer
