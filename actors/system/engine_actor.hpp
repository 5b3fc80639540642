// Every actor of the engine is an EngineActor: an actor of CAF that can end even if no memory is
// left, and that tells its watch when it ends. An exception that a handler throws ends the actor
// and becomes the reason of its end. No exception leaves resume(), which a worker calls.
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

/// ActorTerms are what an actor is spawned with. All memory that the actor's end needs is allocated
/// before the actor itself.
struct ActorTerms {
  Roll* roll = nullptr;
  EndNotice notice;
  caf::mailbox_element_ptr exit;  ///< This message tells the actor to end.
  caf::error out_of_memory;       ///< This is the reason of the actor's end if memory runs out.
  /// This is the reason of the actor's end if there is also no memory for the answer to a request.
  caf::error still_out_of_memory;
  Seat seat;  ///< This is the actor's seat in the queue of the workers that actors share.
  /// This is the actor's own thread, or null if the actor has none.
  std::shared_ptr<Workers> thread;
  /// These run the actor's handlers. In a deterministic system, this is null.
  Workers* workers = nullptr;
};

/// Discards the mail that is left in the mailbox of `actor`. Requests in the mailbox get no answer.
void drop_mail(caf::scheduled_actor& actor) noexcept;

/// Returns the reason of an actor's end by `exception`. If there is no memory for the reason, the
/// function returns `out_of_memory`, from which it moves.
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

  /// Adds `message` to the mailbox. This actor's own workers run it, not `sender`, the workers that
  /// run the sending actor. In a deterministic system, which has no workers, `sender` runs it.
  void enqueue(caf::mailbox_element_ptr message, caf::execution_unit* sender) override {
    Impl::enqueue(std::move(message), adding_unit(sender));
  }

  caf::resumable::resume_result resume(caf::execution_unit* unit,
                                       std::size_t max_throughput) noexcept override {
    try {
      return Impl::resume(unit, max_throughput);
    } catch (...) {
      // CAF throws only if there was no memory to tell another actor why its request has failed.
      this->quit(reason_of(std::current_exception(), terms_.still_out_of_memory));
      this->finalize();
      return caf::resumable::done;
    }
  }

  /// Ends the actor. For that, CAF needs memory, to answer requests that have not been handled and
  /// to tell linked actors. If an attempt fails, the rest of the mail is discarded, so that the
  /// next attempt gets past the place where the last one failed.
  bool cleanup(caf::error&& reason, caf::execution_unit* unit) noexcept override {
    for (;;) {
      try {
        return Impl::cleanup(std::move(reason), unit);
      } catch (...) {
        drop_mail(*this);
      }
    }
  }

  /// Ends the actor when its last handle is gone.
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
  /// Returns the unit that adds this actor to a queue if a handler that `sender` runs has sent it
  /// mail.
  caf::execution_unit* adding_unit(caf::execution_unit* sender) noexcept {
    if (!terms_.workers) return sender;
    return sender == terms_.workers ? &terms_.workers->inner_unit() : terms_.workers;
  }

  void send_exit() noexcept override { this->enqueue(std::move(terms_.exit), nullptr); }

  caf::strong_actor_ptr handle() noexcept override {
    caf::actor_control_block* const control = this->ctrl();
    if (!intrusive_ptr_upgrade_weak(control)) return nullptr;
    return {control, false};
  }

  ActorTerms terms_;
};

}  // namespace penstock::actors
