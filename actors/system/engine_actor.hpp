// EngineActor is what every actor of the engine adds to one of CAF's: it comes to its end whatever
// memory is left, and says so. Whatever a handler throws ends the actor with that exception as the
// reason, and nothing leaves resume(), which a worker calls.
#pragma once

#include <caf/actor_cast.hpp>
#include <caf/error.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/scheduled_actor.hpp>
#include <exception>
#include <memory>
#include <utility>

#include "actors/system/base_init.hpp"
#include "actors/system/end_watch.hpp"
#include "actors/system/mortal.hpp"
#include "actors/system/workers.hpp"

namespace penstock::actors {

/// Holds what an actor is spawned with. All that the actor's end needs is allocated here.
struct ActorTerms {
  Roll* roll = nullptr;
  EndNotice notice;
  caf::mailbox_element_ptr exit;  ///< Is the message that tells it to end.
  caf::error out_of_memory;       ///< Is the reason of its end if memory runs out.
  /// Is the reason of its end if memory also runs out for the answer to a requester.
  caf::error still_out_of_memory;
  Seat seat;  ///< Is its seat in the queue of the workers that all actors share.
  std::shared_ptr<Workers> thread;  ///< Is the thread of its own; null if it has none.
  Workers* workers = nullptr;  ///< Are the threads that run it; null in a deterministic system.
};

/// Consumes what is left in an actor's mailbox, without an answer.
void drop_mail(caf::scheduled_actor& actor) noexcept;

/// Returns what an exception becomes as the reason of an actor's end. It is `out_of_memory`, which
/// is moved, if that is what the exception says, or if there is no memory to say more.
caf::error reason_of(const std::exception_ptr& exception, caf::error& out_of_memory) noexcept;

template <class Impl>
class EngineActor final : public Impl, public Mortal {
 public:
  EngineActor(caf::actor_config& config, ActorTerms&& terms)
      : Impl(config), Mortal(*terms.roll), terms_(std::move(terms)) {
    base_init(this);
    this->set_exception_handler([this](std::exception_ptr& exception) {
      return reason_of(exception, terms_.out_of_memory);
    });
  }
  ~EngineActor() override = default;

  /// Ignores who runs the sender, because the receiver's own workers run the receiver.
  void enqueue(caf::mailbox_element_ptr message, caf::execution_unit* sender) override {
    Impl::enqueue(std::move(message), terms_.workers ? terms_.workers : sender);
  }

  caf::resumable::resume_result resume(caf::execution_unit* unit,
                                       std::size_t max_throughput) noexcept override {
    try {
      return Impl::resume(unit, max_throughput);
    } catch (...) {
      // Here CAF could not tell a requester why its request has failed.
      this->quit(reason_of(std::current_exception(), terms_.still_out_of_memory));
      this->finalize();
      return caf::resumable::done;
    }
  }

  /// CAF's way to an actor's end asks for memory: to answer requests that have not been handled,
  /// and to tell links. Each attempt gets past what the last one failed at.
  bool cleanup(caf::error&& reason, caf::execution_unit* unit) noexcept override {
    for (;;) {
      try {
        return Impl::cleanup(std::move(reason), unit);
      } catch (...) {
        drop_mail(*this);
      }
    }
  }

  /// Ends the actor when the last handle is gone.
  void on_destroy() noexcept override {
    if (this->getf(caf::abstract_actor::is_cleaned_up_flag)) return;
    this->on_exit();
    cleanup(caf::error(), nullptr);
  }

 protected:
  void on_cleanup(const caf::error& reason) noexcept override {
    const bool was_told_to_end = leave_roll();
    terms_.notice.give(was_told_to_end, reason);
    if (terms_.thread) terms_.thread->close();
  }

 private:
  void send_exit() noexcept override { this->enqueue(std::move(terms_.exit), nullptr); }

  caf::strong_actor_ptr handle() noexcept override {
    caf::actor_control_block* const control = this->ctrl();
    if (!intrusive_ptr_upgrade_weak(control)) return nullptr;
    return {control, false};
  }

  ActorTerms terms_;
};

}  // namespace penstock::actors
