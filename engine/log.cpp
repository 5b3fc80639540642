#include "engine/log.hpp"

#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/values/joined.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr const char* variable = "PENSTOCK_LOG_LEVEL";

LogLevel level_of_environment() {
  const char* const text = std::getenv(variable);
  if (!text || !*text) return LogLevel::debug;
  std::vector<std::string_view> known;
  for (auto level = LogLevel::debug; level <= LogLevel::off;
       level = static_cast<LogLevel>(static_cast<int>(level) + 1)) {
    if (to_string(level) == text) return level;
    known.push_back(to_string(level));
  }
  throw Error(Errc::invalid_argument, std::string(variable) + ": expected one of " + joined(known) +
                                          ", got \"" + text + '"');
}

/// Lines from several threads, one at a time. No thread waits for another: the host may be waiting,
/// within its function, for the very thread that has a line to tell. Whoever comes meanwhile leaves
/// it to the one that is telling.
class Telling {
 public:
  explicit Telling(std::function<void(std::string_view)> log) : log_(std::move(log)) {}

  void tell(std::string_view line) {
    std::unique_lock lock(mutex_);
    if (teller_ == std::this_thread::get_id()) return;  // else a function that steps has no end
    waiting_.emplace_back(line);
    if (teller_ != std::thread::id()) return;
    teller_ = std::this_thread::get_id();
    while (!waiting_.empty()) tell_first(lock);
    teller_ = {};
  }

 private:
  void tell_first(std::unique_lock<std::mutex>& lock) {
    const std::string line = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      log_(line);
    } catch (...) {
      lock.lock();
      teller_ = {};
      throw;
    }
    lock.lock();
  }

  const std::function<void(std::string_view)> log_;
  std::mutex mutex_;
  std::thread::id teller_ = {};  ///< in `log_`; none: nobody is
  std::deque<std::string> waiting_;
};

std::function<void(std::string_view)> serialized(const std::function<void(std::string_view)>& log) {
  if (!log) return {};
  return [telling = std::make_shared<Telling>(log)](std::string_view line) { telling->tell(line); };
}

LogLevel least_of(const RuntimeOptions& options) {
  const bool asks = options.log && options.log_level == LogLevel::automatic;
  return asks ? level_of_environment() : options.log_level;
}

}  // namespace

Log::Log(const RuntimeOptions& options)
    : write_(serialized(options.log)), least_(least_of(options)) {}

}  // namespace penstock
