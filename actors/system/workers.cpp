#include "actors/system/workers.hpp"

#include <caf/resumable.hpp>

#include "actors/system/thread_entry.hpp"
#include "graph/values/thread_variables.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

/// A core copies this many bytes in about the time in which it wakes a thread.
constexpr std::size_t bytes_of_waking = 100'000;

}  // namespace

void Workers::start(const std::string& name, int count) {
  threads_.reserve(static_cast<std::size_t>(count));
  try {
    while (threads_.size() < static_cast<std::size_t>(count)) {
      ++running_;
      ++entering_;
      threads_.emplace_back(name, [this] { work(); });
    }
    wait_until_entered();
  } catch (const Error&) {
    refuse(count, "the system allows " + std::to_string(threads_.size()));
  } catch (...) {
    end();
    throw;
  }
  if (refused_) refuse(count, "out of memory");
}

void Workers::refuse(int count, const std::string& reason) {
  end();
  throw Error(Errc::out_of_memory,
              "cannot start " +
                  (count == 1 ? "another thread" : std::to_string(count) + " more threads") + ": " +
                  reason);
}

void Workers::wait_until_entered() noexcept {
  for (int left = entering_; left > 0; left = entering_) entering_.wait(left);
}

void Workers::end() noexcept {
  close();
  threads_.clear();  // The destructor of each thread waits until the thread has ended.
}

void let_others_work(caf::execution_unit* unit) noexcept {
  // The unit of a deterministic system has no threads that could be woken.
  if (auto* const workers = dynamic_cast<Workers*>(unit)) workers->jobs().wake_another();
}

bool let_others_work_for(caf::execution_unit* unit, std::size_t bytes) noexcept {
  const bool is_long = bytes > bytes_of_waking;
  if (is_long) let_others_work(unit);
  return is_long;
}

void Workers::work() noexcept {
  if (!try_to_enter_caf()) {
    refused_ = true;
    close();
  }
  --entering_;
  entering_.notify_one();
  caf::resumable* job = jobs_.pop();
  while (job) {
    // The thread prepares anew for each job, because the host may have loaded libraries since the
    // job before.
    static_cast<void>(prepare_to_throw());
    if (job->resume(this, max_throughput_) == caf::resumable::resume_later) {
      job = jobs_.exchange(job);
    } else {
      intrusive_ptr_release(job);
      job = jobs_.pop();
    }
  }
  --running_;
}

}  // namespace penstock::actors
