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

class Log {
 public:
  /// Makes a log that takes no line.
  Log() = default;
  /// @throws Error invalid_argument if PENSTOCK_LOG_LEVEL is neither empty nor one of the levels'
  /// names; it does not matter if the options have no log, or a level of their own.
  explicit Log(const RuntimeOptions& options);

  /// Returns whether anybody would see such a line: ask before making one.
  bool takes(LogLevel level) const noexcept { return telling_ && level >= least_; }
  void operator()(LogLevel level, std::string_view line) const {
    if (takes(level)) tell(line);
  }
  /// Tells a line that is put together from `parts`. Without memory for it, no line is told.
  void operator()(LogLevel level, std::initializer_list<std::string_view> parts) const;

  /// Returns what `call` returns. Lines that come meanwhile on this thread, of whichever log, are
  /// told once it has ended, so that the host's functions find nothing half done and may call
  /// whatever told them. What these throw is thrown, unless `call` has thrown.
  auto after(const auto& call) const {
    Held held(*this);
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      held.release();
    } else {
      auto result = call();
      held.release();
      return result;
    }
  }

 private:
  class Telling;
  /// While one lives, lines that come on its thread wait, whatever log they are of.
  class Held {
   public:
    explicit Held(const Log& log);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    void release();
    /// Returns the first one of this thread that lives, or null.
    static Held* outermost() noexcept;
    /// Lets `telling` tell its lines when this is released. @throws std::bad_alloc
    void add(const std::shared_ptr<Telling>& telling);

   private:
    void tell_waiting();

    std::shared_ptr<Telling> telling_;             // of the log that the call has
    std::vector<std::weak_ptr<Telling>> waiting_;  // of other logs
    bool released_ = false;
  };

  /// Tells the host, who may destroy this log meanwhile.
  void tell(std::string_view line) const;

  std::shared_ptr<Telling> telling_;  // null if nobody listens
  LogLevel least_ = LogLevel::debug;
};

}  // namespace penstock
