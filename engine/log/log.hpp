// Log is what a running model tells its host, line by line, on the thread that calls it. Lines that
// matter less than the host's level are left out, and so are lines that the host causes while it is
// told a line. Copies are one log.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "penstock/options.hpp"

namespace penstock {

/// Stands for a `Model` and all training and inference models that run it. Their calls come from
/// one thread at a time.
struct LogScope {
  LogScope() = default;
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;
};

class Log {
  class Telling;

 public:
  /// Makes a log that takes no line.
  Log() = default;
  /// Makes the log of a model in `scope`. The scope outlives every line that the log takes.
  /// @throws Error invalid_argument if PENSTOCK_LOG_LEVEL is neither empty nor one of the levels'
  /// names; it does not matter if the options have no log, or a level of their own.
  Log(const RuntimeOptions& options, const LogScope& scope);

  /// Returns whether anybody would see a line of `level`. Ask before making one.
  bool takes(LogLevel level) const noexcept { return telling_ && level >= least_; }
  void operator()(LogLevel level, std::string_view line) const {
    if (takes(level)) tell(line);
  }
  /// Tells a line that is put together from `parts`. Without memory for it, no line is told.
  void operator()(LogLevel level, std::initializer_list<std::string_view> parts) const;

  /// Returns what `call` returns, a call in `scope` of the running model that has this log. Lines
  /// of any log of `scope` that come on this thread meanwhile are told once the outermost call in
  /// `scope` has ended, so that the host's functions find nothing half done and may call the model.
  /// Calls in other scopes inside it tell their lines at their own ends.
  /// @throws what `call` throws. The outermost call also throws the first exception of this log;
  /// what other logs throw is dropped, and every line has been told before anything is thrown.
  auto after(const LogScope& scope, const auto& call) const {
    Held held(scope, *this);
    return held.around(call);
  }
  /// Does what after() does for a call of the `Model` itself, which has no log of its own.
  /// @throws what `call` throws, else the first exception of any log.
  static auto after_all(const LogScope& scope, const auto& call) {
    Held held(scope);
    return held.around(call);
  }

  /// While a Held lives, lines of any log of its scope that come on its thread wait. The Held
  /// objects of a thread form a chain with one for each scope, that of the scope's outermost call.
  class Held {
   public:
    /// Holds the lines of a call in `scope` of the running model that has `log`.
    Held(const LogScope& scope, const Log& log);
    /// Holds the lines of a call of the `Model` itself, which has no log of its own.
    explicit Held(const LogScope& scope);
    /// Tells the lines that still wait, and drops what logs throw.
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    /// Tells the lines, unless a call around this one is to tell them.
    /// @throws the first exception of the log that the call has, or of any log without one.
    void release();
    auto around(const auto& call) {
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        release();
      } else {
        auto result = call();
        release();
        return result;
      }
    }
    /// Returns the Held for `scope` in this thread's chain, or null.
    static Held* of(const LogScope& scope) noexcept;
    /// Lets `telling` tell its lines when this object is released. @throws std::bad_alloc
    void add(const std::shared_ptr<Telling>& telling);

   private:
    void join();
    void tell_waiting();

    /// Returns the innermost Held of this thread, or null.
    static Held*& innermost() noexcept;

    const LogScope& scope_;
    const bool passes_all_;  // If it is false, only what the call's own log throws passes.
    // Tells the lines of the log that the call has; null if it has none.
    const std::shared_ptr<Telling> of_call_;
    std::vector<std::shared_ptr<Telling>> others_;  // Their models may be gone by now.
    Held* outer_ = nullptr;                         // Is the next Held of the chain.
    bool in_chain_ = false;
  };

 private:
  /// Tells the host, who may destroy this log meanwhile.
  void tell(std::string_view line) const;

  std::shared_ptr<Telling> telling_;  // Is null if nobody listens.
  LogLevel least_ = LogLevel::debug;
};

}  // namespace penstock
