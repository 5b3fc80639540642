// Log is what a running model tells its host, line by line, on the thread that calls it. Lines
// that matter less than the host's level are left out, and those that the host causes while it is
// told one. Copies are one log.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "penstock/options.hpp"

namespace penstock {

/// Stands for a `Model`, and for all models that run it: their calls come from one thread at a
/// time.
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
  /// Makes the log of a model of `scope`, which outlives every line that the log takes.
  /// @throws Error invalid_argument if PENSTOCK_LOG_LEVEL is neither empty nor one of the levels'
  /// names; it does not matter if the options have no log, or a level of their own.
  Log(const RuntimeOptions& options, const LogScope& scope);

  /// Returns whether anybody would see such a line: ask before making one.
  bool takes(LogLevel level) const noexcept { return telling_ && level >= least_; }
  void operator()(LogLevel level, std::string_view line) const {
    if (takes(level)) tell(line);
  }
  /// Tells a line that is put together from `parts`. Without memory for it, no line is told.
  void operator()(LogLevel level, std::initializer_list<std::string_view> parts) const;

  /// Returns what `call` returns, which is a call in `scope` and of the running model that has this
  /// log. Lines that come meanwhile on this thread, of whichever log of `scope`, are told once the
  /// outermost such call has ended, so that the host's functions find nothing half done and may
  /// call whatever told them. Calls in other scopes inside it tell their lines at their own ends.
  /// @throws what `call` throws. The outermost call also throws the first exception of this log;
  /// what other logs throw is dropped, and every line has been told before anything is thrown.
  auto after(const LogScope& scope, const auto& call) const {
    Held held(scope, *this);
    return held.around(call);
  }
  /// Does the same for a call of the `Model` itself, which has no log of its own.
  /// @throws what `call` throws, else the first exception of any log.
  static auto after_all(const LogScope& scope, const auto& call) {
    Held held(scope);
    return held.around(call);
  }

  /// While one lives, lines that come on its thread wait, of whatever log of its scope. Those of a
  /// thread form a chain, in which there is one of each scope: that of its outermost call.
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
    /// Returns the one of this thread that is in the chain for `scope`, or null.
    static Held* of(const LogScope& scope) noexcept;
    /// Lets `telling` tell its lines when this is released. @throws std::bad_alloc
    void add(const std::shared_ptr<Telling>& telling);

   private:
    void join();
    void tell_waiting();

    /// Returns the innermost one of this thread, or null.
    static Held*& innermost() noexcept;

    const LogScope& scope_;
    const bool passes_all_;  // If it is false, only what the call's own log throws passes.
    // Tells the lines of the log that the call has; null if it has none.
    const std::shared_ptr<Telling> of_call_;
    std::vector<std::shared_ptr<Telling>> others_;  // Their models may be gone by now.
    Held* outer_ = nullptr;                         // Is the next one of the chain.
    bool in_chain_ = false;
  };

 private:
  /// Tells the host, who may destroy this log meanwhile.
  void tell(std::string_view line) const;

  std::shared_ptr<Telling> telling_;  // Is null if nobody listens.
  LogLevel least_ = LogLevel::debug;
};

}  // namespace penstock
