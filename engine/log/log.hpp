// Log tells the host lines of text: it calls the log function that the host has given to a running
// model, on the thread that calls the model. Lines below the host's level are left out, and so are
// lines that the log function causes while it runs. Copies of a Log share one log function and the
// lines that wait for it.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "penstock/options.hpp"

namespace penstock {

/// A LogScope stands for a `Model` and all training and inference models that run it. Their calls
/// come from one thread at a time.
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
  /// names. The variable is not read if the options have no log, or a level of their own.
  Log(const RuntimeOptions& options, const LogScope& scope);

  /// Returns whether a line of `level` is told to the host. Callers ask before they make a line.
  bool takes(LogLevel level) const noexcept { return telling_ && level >= least_; }
  void operator()(LogLevel level, std::string_view line) const {
    if (takes(level)) tell(line);
  }
  /// Tells a line that is put together from `parts`. If there is no memory for the line, it is
  /// dropped.
  void operator()(LogLevel level, std::initializer_list<std::string_view> parts) const;

  /// Runs `call`, a call in `scope` of the running model that has this log, and returns its result.
  /// Lines of any log of `scope` that come on this thread meanwhile are told once the outermost
  /// call in `scope` has ended, so that the host's functions find nothing half done and may call
  /// the model. A call in another scope that `call` makes tells its lines when it ends itself.
  /// @throws what `call` throws. The outermost call also throws the first exception of this log's
  /// function, once every line has been told. Exceptions of other logs' functions are dropped.
  auto after(const LogScope& scope, const auto& call) const {
    Held held(scope, *this);
    return held.around(call);
  }
  /// Does what after() does for a call of the `Model` itself, which has no log of its own.
  /// @throws what `call` throws, or else the first exception of any log's function.
  static auto after_all(const LogScope& scope, const auto& call) {
    Held held(scope);
    return held.around(call);
  }

  /// While a Held lives, lines of any log of its scope that come on its thread wait. The Held
  /// objects of a thread form a chain. Of each scope, only the Held of the outermost call is in the
  /// chain.
  class Held {
   public:
    /// Makes the lines of a call in `scope` wait, where the call is one of the running model that
    /// has `log`.
    Held(const LogScope& scope, const Log& log);
    /// Makes the lines of a call of the `Model` itself wait, which has no log of its own.
    explicit Held(const LogScope& scope);
    /// Passes the lines that still wait to the host's functions, and drops what these throw.
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    /// Tells the host the lines that wait, unless a call in the same scope is around this one. That
    /// call then tells them when it ends.
    /// @throws the first exception of the log function of the running model that is called or, in a
    /// call of the `Model` itself, of any log function.
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
    // `passes_all_` says whether exceptions of any log pass, or only those of the call's own log.
    const bool passes_all_;
    // `of_call_` tells the lines of the log that the call has. It is null if the call has no log.
    const std::shared_ptr<Telling> of_call_;
    // `others_` tell the lines of other logs in the scope. The models of these logs may have been
    // destroyed.
    std::vector<std::shared_ptr<Telling>> others_;
    Held* outer_ = nullptr;  // `outer_` is the next Held of the chain.
    bool in_chain_ = false;
  };

 private:
  /// Tells the host `line`. The host's function may destroy this log meanwhile.
  void tell(std::string_view line) const;

  std::shared_ptr<Telling> telling_;  // `telling_` is null if the host has given no log function.
  LogLevel least_ = LogLevel::debug;
};

}  // namespace penstock
