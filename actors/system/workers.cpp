#include "actors/system/workers.hpp"

#include <caf/resumable.hpp>

#include "penstock/error.hpp"

namespace penstock::actors {

void Workers::start(const std::string& name, int count) {
  threads_.reserve(static_cast<std::size_t>(count));
  try {
    while (threads_.size() < static_cast<std::size_t>(count)) {
      ++running_;
      threads_.emplace_back(name, [this] { work(); });
    }
  } catch (const Error&) {
    const std::size_t started = threads_.size();
    end();
    throw Error(Errc::out_of_memory,
                "cannot start " +
                    (count == 1 ? "another thread" : std::to_string(count) + " more threads") +
                    ": the system allows " + std::to_string(started));
  } catch (...) {
    end();
    throw;
  }
}

void Workers::end() noexcept {
  close();
  threads_.clear();  // waits for them
}

void Workers::work() noexcept {
  caf::resumable* job = jobs_.pop();
  while (job) {
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
