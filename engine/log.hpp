// Log: what a running model tells its host, line by line, from any thread, one at a time. Lines
// that matter less than the host's level are left out, and those that the host causes while it is
// told one.
#pragma once

#include <functional>
#include <string_view>

#include "penstock/options.hpp"

namespace penstock {

class Log {
 public:
  /// Takes nothing.
  Log() = default;
  /// @throws Error invalid_argument for another PENSTOCK_LOG_LEVEL than one of the levels' names,
  /// unless that is empty, or the options have no log, or a level of their own.
  explicit Log(const RuntimeOptions& options);

  /// Whether anybody would see such a line: ask before making one.
  bool takes(LogLevel level) const noexcept { return write_ && level >= least_; }
  void operator()(LogLevel level, std::string_view line) const {
    if (takes(level)) write_(line);
  }

 private:
  std::function<void(std::string_view)> write_ = {};
  LogLevel least_ = LogLevel::debug;
};

}  // namespace penstock
