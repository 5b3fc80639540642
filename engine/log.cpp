#include "engine/log.hpp"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr const char* variable = "PENSTOCK_LOG_LEVEL";

LogLevel level_of_environment() {
  const char* const text = std::getenv(variable);
  if (!text) return LogLevel::debug;
  std::string known;
  for (auto level = LogLevel::debug; level <= LogLevel::off;
       level = static_cast<LogLevel>(static_cast<int>(level) + 1)) {
    if (to_string(level) == text) return level;
    known += (known.empty() ? "" : ", ") + std::string(to_string(level));
  }
  throw Error(Errc::invalid_argument,
              std::string(variable) + ": expected one of " + known + ", got \"" + text + '"');
}

/// Lines from several threads, one at a time.
std::function<void(std::string_view)> serialized(std::function<void(std::string_view)> log) {
  if (!log) return {};
  return [log = std::move(log), mutex = std::make_shared<std::mutex>()](std::string_view line) {
    const std::lock_guard lock(*mutex);
    log(line);
  };
}

}  // namespace

Log::Log(const RuntimeOptions& options)
    : write_(serialized(options.log)),
      least_(options.log_level == LogLevel::automatic ? level_of_environment()
                                                      : options.log_level) {}

std::function<void(std::string_view)> Log::of(LogLevel level) const {
  return takes(level) ? write_ : nullptr;
}

}  // namespace penstock
