// Log: what a running model tells its host, line by line, on the thread that calls the model. Lines
// that matter less than the host's level are left out, and those that the host causes while it is
// told one. Copies are one log.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>

#include "penstock/options.hpp"

namespace penstock {

class Log {
 public:
  /// Takes nothing.
  Log() = default;
  /// @throws Error invalid_argument for another PENSTOCK_LOG_LEVEL than one of the levels' names,
  /// unless that is empty, or the options have no log, or a level of their own.
  explicit Log(const RuntimeOptions& options);

  /// Returns whether anybody would see such a line: ask before making one.
  bool takes(LogLevel level) const noexcept { return telling_ && level >= least_; }
  void operator()(LogLevel level, std::string_view line) const {
    if (takes(level)) tell(line);
  }
  /// Tells a line that is put together from `parts`. Without memory for it, no line is told.
  void operator()(LogLevel level, std::initializer_list<std::string_view> parts) const;

  /// What `call` returns. Lines that come meanwhile are told once it has ended, so that the host's
  /// function finds nothing half done and may call whatever told it. What that throws is thrown,
  /// unless `call` has thrown.
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
  /// Lines wait while one lives.
  class Held {
   public:
    explicit Held(const Log& log);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    void release();

   private:
    std::shared_ptr<Telling> telling_;
  };

  /// Tells the host, who may destroy this log meanwhile.
  void tell(std::string_view line) const;

  std::shared_ptr<Telling> telling_;  // none: nobody listens
  LogLevel least_ = LogLevel::debug;
};

}  // namespace penstock
