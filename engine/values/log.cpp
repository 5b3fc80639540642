#include "engine/values/log.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine/values/joined.hpp"
#include "engine/values/out_of_memory.hpp"
#include "engine/values/printable.hpp"
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

}  // namespace

class Log::Telling : public std::enable_shared_from_this<Telling> {
 public:
  explicit Telling(std::function<void(std::string_view)> log) : log_(std::move(log)) {}

  void add(std::string_view line) {
    if (telling_) return;  // else a function that steps has no end
    Held* const held = Held::outermost();
    try {
      if (held) held->add(shared_from_this());
      waiting_.emplace_back(line);
    } catch (const std::bad_alloc&) {
      return;  // what the line tells of has happened all the same
    }
    if (!held) tell_waiting();
  }

  void tell_waiting() {
    if (telling_) return;
    telling_ = true;
    try {
      while (!waiting_.empty()) tell_first();
    } catch (...) {
      telling_ = false;
      throw;
    }
    telling_ = false;
  }

 private:
  void tell_first() {
    const std::string line = std::move(waiting_.front());
    waiting_.pop_front();
    call_host([&] { log_(line); });
  }

  const std::function<void(std::string_view)> log_;
  std::deque<std::string> waiting_;
  bool telling_ = false;
};

Log::Log(const RuntimeOptions& options) : least_(least_of(options)) {
  if (options.log) telling_ = std::make_shared<Telling>(options.log);
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

namespace {
thread_local void* outermost_held = nullptr;  // a Log::Held
}

Log::Held* Log::Held::outermost() noexcept {
  return static_cast<Held*>(outermost_held);
}

Log::Held::Held(const Log& log) : telling_(log.telling_) {
  if (!outermost_held) outermost_held = this;
}

void Log::Held::add(const std::shared_ptr<Telling>& telling) {
  const auto is_same = [&](const std::weak_ptr<Telling>& other) { return other.lock() == telling; };
  if (telling != telling_ && std::ranges::none_of(waiting_, is_same)) waiting_.push_back(telling);
}

void Log::Held::release() {
  if (std::exchange(released_, true) || outermost() != this) return;
  outermost_held = nullptr;
  tell_waiting();
}

// A log that throws keeps no other one from being told. One that another has destroyed is not told.
void Log::Held::tell_waiting() {
  std::exception_ptr thrown;
  const auto tell = [&](const std::shared_ptr<Telling>& telling) {
    try {
      if (telling) telling->tell_waiting();
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  };
  tell(telling_);
  for (const auto& waiting : waiting_) tell(waiting.lock());
  if (thrown) std::rethrow_exception(thrown);
}

// The call has thrown, which is what its caller has to know.
Log::Held::~Held() {
  try {
    release();
  } catch (...) {
  }
}

}  // namespace penstock
