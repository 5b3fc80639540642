#include "actors/execution/thread_team.hpp"

#include <chrono>
#include <thread>

#include "actors/execution/flush_denormals.hpp"
#include "graph/values/thread_variables.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

using Clock = std::chrono::steady_clock;

/// A thread that waits stays awake for this long. The next kernel of a program mostly begins within
/// this time, and waking a thread takes about as long.
constexpr std::chrono::microseconds spin_limit{50};
constexpr int pauses = 64;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits until `word` is not `old`. At first the thread stays awake, because the change may come
/// soon, but yields to other threads, because there may be few cores. Then it sleeps.
void await_change(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  for (int i = 0; i < pauses; ++i) {
    if (word.load(std::memory_order_acquire) != old) return;
    pause();
  }
  for (const auto begin = Clock::now(); Clock::now() - begin < spin_limit;) {
    if (word.load(std::memory_order_acquire) != old) return;
    std::this_thread::yield();
  }
  word.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadTeam::ThreadTeam(const std::string& name, std::int32_t threads) {
  helpers_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (std::int32_t helper = 1; helper < threads; ++helper)
      helpers_.emplace_back(name, [this] { help(); });
  } catch (const Error&) {
    const std::size_t started = helpers_.size();
    end();
    throw Error(Errc::out_of_memory, name + ": cannot start " + std::to_string(threads - 1) +
                                         " threads to share its kernels: the system allows " +
                                         std::to_string(started) +
                                         " more; a lower threads_per_ipu may help");
  } catch (...) {
    end();
    throw;
  }
}

ThreadTeam::~ThreadTeam() {
  end();
}

void ThreadTeam::end() {
  ended_.store(true);
  calls_.fetch_add(1, std::memory_order_release);
  calls_.notify_all();
  helpers_.clear();  // The destructor of each helper waits until the helper has ended.
}

void ThreadTeam::help() {
  const FlushDenormals flush;
  for (std::uint32_t seen = 0; !ended_.load();) {
    await_change(calls_, seen);
    seen = calls_.load(std::memory_order_acquire);
    // The thread prepares anew for each call, because the host may have loaded libraries since the
    // call before.
    static_cast<void>(prepare_to_throw());
    take_parts(Side::last);
  }
}

void ThreadTeam::run(std::int32_t parts, const std::function<void(std::int32_t)>& work) {
  work_ = &work;
  error_ = nullptr;
  finished_.store(0, std::memory_order_relaxed);
  const std::uint32_t call = calls_.load(std::memory_order_relaxed) + 1;
  offer_.store({call, 0, static_cast<std::uint16_t>(parts)}, std::memory_order_release);
  calls_.store(call, std::memory_order_release);
  calls_.notify_all();
  take_parts(Side::first);
  for (std::uint32_t done;
       (done = finished_.load(std::memory_order_acquire)) < static_cast<std::uint32_t>(parts);)
    await_change(finished_, done);
  if (error_) std::rethrow_exception(error_);
}

void ThreadTeam::take_parts(Side side) {
  Offer seen = offer_.load(std::memory_order_acquire);
  while (seen.first < seen.end) {
    Offer left = seen;
    const std::uint16_t part = side == Side::first ? left.first++ : --left.end;
    if (!offer_.compare_exchange_weak(seen, left, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
      continue;
    run_part(part);
    seen = offer_.load(std::memory_order_acquire);
  }
}

void ThreadTeam::run_part(std::int32_t part) {
  try {
    (*work_)(part);
  } catch (...) {
    keep_first_error(part);
  }
  finished_.fetch_add(1, std::memory_order_release);
  finished_.notify_all();
}

void ThreadTeam::keep_first_error(std::int32_t part) {
  const std::lock_guard lock(error_mutex_);
  if (error_ && failed_part_ < part) return;
  failed_part_ = part;
  error_ = std::current_exception();
}

}  // namespace penstock::actors
