// Progress: how far a run is, on stderr: a bar that is drawn over itself on a terminal, and now and
// then a plain line elsewhere. Used from one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "penstock/options.hpp"

namespace trainer {

/// "Loss:0.1422 | Accuracy:95.78%: 100%|██████████| 15/15 [00:01<00:00, 14.89it/s]"; the text
/// before the first colon and its colon are left out if `description` is empty.
std::string bar_line(const std::string& description, std::int64_t done, std::int64_t total,
                     double seconds);

/// The same among other lines: "Epoch 1/3: 3/15 [00:01<00:04, 2.81it/s] Loss:0.1422".
std::string plain_line(const std::string& title, const std::string& description, std::int64_t done,
                       std::int64_t total, double seconds);

struct ProgressStream {
  bool terminal = false;
  std::function<void(const std::string&)> write = {};
  std::function<double()> seconds = {};  ///< is a clock that never goes back
  /// Returns how many columns the terminal has now, or 0 if nobody knows. Without it nobody does.
  std::function<std::size_t()> columns = {};

  /// Returns the process's stderr and steady clock. With `among_lines`, others write there too, and
  /// a terminal gets no bar that they would break.
  static ProgressStream standard_error(bool among_lines);
  /// Returns a stream that nobody reads, with the same clock.
  static ProgressStream silent();
};

/// What draws a bar of a hundred ticks while a model is compiled: on a terminal; elsewhere nothing
/// is to be called. `stream` outlives it.
std::function<void(const penstock::CompileProgress&)> compile_bar(const ProgressStream& stream,
                                                                  const std::string& title);

/// One task of `total` steps. Ends its line when it goes out of scope.
class Progress {
 public:
  Progress(const ProgressStream& stream, std::string title, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One more step is done.
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
  std::int64_t shown_ = 0;  ///< `done_` when last shown
  double begin_;
  double shown_at_;
  std::size_t bar_columns_ = 0;  ///< is the width of the bar on the terminal's line, 0 without one
};

}  // namespace trainer
