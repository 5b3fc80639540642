#include "actors/system/scheduler.hpp"

#include <stdexcept>

#include "actors/system/internal_actors.hpp"

namespace penstock::actors {
namespace {

/// NoTimers is a clock that tells the time, and refuses timeouts and delayed messages.
class NoTimers final : public caf::actor_clock {
 public:
  void set_ordinary_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                            std::uint64_t) override {
    refuse();
  }
  void set_multi_timeout(time_point, caf::abstract_actor*, caf::atom_value,
                         std::uint64_t) override {
    refuse();
  }
  void set_request_timeout(time_point, caf::abstract_actor*, caf::message_id) override { refuse(); }
  void schedule_message(time_point, caf::strong_actor_ptr, caf::mailbox_element_ptr) override {
    refuse();
  }
  void schedule_message(time_point, caf::group, caf::strong_actor_ptr, caf::message) override {
    refuse();
  }
  void cancel_ordinary_timeout(caf::abstract_actor*, caf::atom_value) noexcept override {}
  void cancel_request_timeout(caf::abstract_actor*, caf::message_id) noexcept override {}
  void cancel_timeouts(caf::abstract_actor*) noexcept override {}
  void cancel_all() noexcept override {}

 private:
  [[noreturn]] static void refuse() {
    throw std::logic_error("an actor system with threads has no timeouts or delayed messages");
  }
};

}  // namespace

Scheduler::Scheduler(caf::actor_system& system, std::size_t max_throughput)
    : abstract_coordinator(system), shared_(system, max_throughput) {}

void Scheduler::init(caf::actor_system_config& config) {
  abstract_coordinator::init(config);
  end_internal_actors_at_once(system());
}

std::shared_ptr<Workers> Scheduler::add_thread(const std::string& name) {
  const std::lock_guard lock(mutex_);
  join_ended();
  auto thread = std::make_shared<Workers>(system(), shared_.max_throughput());
  thread->jobs().add_seat();
  single_threads_.push_back(thread);
  try {
    thread->start(name, 1);
  } catch (...) {
    single_threads_.pop_back();
    throw;
  }
  return thread;
}

void Scheduler::join_ended() noexcept {
  single_threads_.remove_if([](const std::shared_ptr<Workers>& thread) {
    if (!thread->ended()) return false;
    thread->end();
    return true;
  });
}

caf::actor_clock& Scheduler::clock() noexcept {
  static NoTimers clock;
  return clock;
}

// Every actor has ended by now, but threads may still run the last instructions of some actors.
void Scheduler::stop() noexcept {
  shared_.end();
  const std::lock_guard lock(mutex_);
  for (const auto& thread : single_threads_) thread->end();
  single_threads_.clear();
}

}  // namespace penstock::actors
