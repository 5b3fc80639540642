#include "engine/log/log.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "graph/values/out_of_memory.hpp"
#include "graph/values/text.hpp"
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
                                          ", got " + quoted_text(text));
}

LogLevel least_of(const RuntimeOptions& options) {
  const bool asks = options.log && options.log_level == LogLevel::automatic;
  return asks ? level_of_environment() : options.log_level;
}

/// Throws `thrown`, an exception of a function of the host's, unless it is null. call_host() notes
/// the exception once more as the host's, because functions that were called since may have thrown
/// so many exceptions that the first note was dropped.
void throw_if_any(const std::exception_ptr& thrown) {
  if (thrown) call_host([&] { std::rethrow_exception(thrown); });
}

}  // namespace

class Log::Telling : public std::enable_shared_from_this<Telling> {
 public:
  Telling(std::function<void(std::string_view)> log, const LogScope& scope)
      : log_(std::move(log)), scope_(scope) {}

  void add(std::string_view line) {
    if (telling_) return;  // Without this return, a log function that calls step() would never end.
    Held* const held = Held::of(scope_);
    try {
      if (held) held->add(shared_from_this());
      waiting_.emplace_back(line);
    } catch (const std::bad_alloc&) {
      return;  // The line is dropped, and the call that tells it goes on.
    }
    if (!held) tell_waiting();
  }

  /// Tells every line that waits. @throws the first exception of the host's function, once all
  /// lines have been told.
  void tell_waiting() {
    if (telling_) return;
    telling_ = true;
    std::exception_ptr thrown;
    while (!waiting_.empty()) {
      try {
        tell_first();
      } catch (...) {
        if (!thrown) thrown = std::current_exception();
      }
    }
    telling_ = false;
    throw_if_any(thrown);
  }

 private:
  void tell_first() {
    const std::string line = std::move(waiting_.front());
    waiting_.pop_front();
    call_host([&] { log_(line); });
  }

  const std::function<void(std::string_view)> log_;
  const LogScope& scope_;
  std::deque<std::string> waiting_;
  bool telling_ = false;
};

Log::Log(const RuntimeOptions& options, const LogScope& scope) : least_(least_of(options)) {
  if (options.log) telling_ = std::make_shared<Telling>(options.log, scope);
}

void Log::tell(std::string_view line) const {
  const std::shared_ptr<Telling> telling = telling_;
  telling->add(line);
}

void Log::operator()(LogLevel level, std::initializer_list<std::string_view> parts) const {
  if (!takes(level)) return;
  std::string line;
  try {
    for (const std::string_view part : parts) line += part;
  } catch (const std::bad_alloc&) {
    return;
  }
  tell(line);
}

[[gnu::noipa]] Log::Held*& Log::Held::innermost() noexcept {
  static constinit thread_local Held* held = nullptr;
  return held;
}

Log::Held* Log::Held::of(const LogScope& scope) noexcept {
  Held* held = innermost();
  while (held && &held->scope_ != &scope) held = held->outer_;
  return held;
}

Log::Held::Held(const LogScope& scope, const Log& log)
    : scope_(scope), passes_all_(false), of_call_(log.telling_) {
  join();
}

Log::Held::Held(const LogScope& scope) : scope_(scope), passes_all_(true) {
  join();
}

void Log::Held::join() {
  if (of(scope_)) return;  // A call in this scope is around this one, and tells the lines.
  outer_ = std::exchange(innermost(), this);
  in_chain_ = true;
}

void Log::Held::add(const std::shared_ptr<Telling>& telling) {
  if (telling != of_call_ && std::ranges::find(others_, telling) == others_.end())
    others_.push_back(telling);
}

// Calls inside this object's call have ended, so that this object is the innermost of the chain.
void Log::Held::release() {
  if (!std::exchange(in_chain_, false)) return;
  innermost() = outer_;
  tell_waiting();
}

// If the function of one log throws, the other logs are told their lines nevertheless.
void Log::Held::tell_waiting() {
  std::exception_ptr thrown;
  const auto tell = [&](Telling& telling, bool passes) {
    try {
      telling.tell_waiting();
    } catch (...) {
      if (passes && !thrown) thrown = std::current_exception();
    }
  };
  if (of_call_) tell(*of_call_, true);
  for (const auto& other : others_) tell(*other, passes_all_);
  throw_if_any(thrown);
}

// If lines still wait, the call has thrown. Its caller gets that exception, and none that the
// function of a log throws.
Log::Held::~Held() {
  try {
    release();
  } catch (...) {
  }
}

}  // namespace penstock
