// An Interruption lets SIGINT (Ctrl-C) and SIGTERM end a run in good order: the first signal asks
// the run to stop, and the second one ends the process at once, as the first would without an
// Interruption.
#pragma once

#include <signal.h>

#include <atomic>
#include <stop_token>
#include <thread>

namespace trainer {

class Interruption {
 public:
  /// Begins to wait for the signals on a thread of its own. The calling thread blocks them
  /// meanwhile. A signal that the process ignores, as a background job ignores SIGINT, stays
  /// ignored.
  Interruption();
  /// Ends the wait. Signals have the effect again that they had before.
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Returns a token that the first signal stops.
  std::stop_token token() const { return stop_.get_token(); }
  /// Returns the number of the first signal, or 0 if none has come.
  int signal() const noexcept { return signal_; }

 private:
  void wait_for_signals();

  sigset_t signals_;
  sigset_t blocked_before_;
  // `wakes_` is a signal that wakes the thread, or 0 if the process ignores SIGINT and SIGTERM.
  int wakes_ = 0;
  std::stop_source stop_;
  std::atomic<int> signal_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// Ends the process as the signal number `signal` ends a process that does not handle it, so that a
/// shell that started it can tell.
[[noreturn]] void end_process_by(int signal);

}  // namespace trainer
