#include "actors/system/internal_actors.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_config.hpp>
#include <caf/actor_system.hpp>
#include <caf/logger.hpp>
#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/scheduled_actor.hpp>

namespace penstock::actors {
namespace {

using Place = const caf::strong_actor_ptr&;

void set(Place place, caf::strong_actor_ptr actor) noexcept {
  // The cast is allowed because the system to which `place` belongs is not constant.
  const_cast<caf::strong_actor_ptr&>(place) = std::move(actor);
}

void end(Place place) noexcept {
  auto* const idle =
      static_cast<caf::scheduled_actor*>(caf::actor_cast<caf::abstract_actor*>(place));
  idle->on_exit();
  idle->cleanup(caf::error(), nullptr);
}

/// A PlaceHolder stands in the place of an internal actor of CAF until CAF assigns the internal
/// actor to that place. The assignment destroys the place holder, which then ends the internal
/// actor.
class PlaceHolder final : public caf::monitorable_actor {
 public:
  PlaceHolder(caf::actor_config& config, Place place) : monitorable_actor(config), place_(place) {}
  ~PlaceHolder() override = default;

  using monitorable_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override {}

  void on_destroy() override {
    // If the system's constructor fails before the assignment, the place holder is destroyed while
    // it is still in its place, and there is no internal actor to end.
    if (place_.get() == ctrl()) return;
    end(place_);
    set(place_, nullptr);
  }

 private:
  Place place_;
};

}  // namespace

void end_internal_actors_at_once(caf::actor_system& system) {
  // CAF keeps a number for each thread, and looks it up when it spawns an actor and when it
  // destroys one. Only a thread's first look-up allocates memory. It is done here, where an
  // exception may be thrown.
  system.logger().thread_local_aid(0);
  for (const caf::strong_actor_ptr* const place : {&system.spawn_serv(), &system.config_serv()}) {
    caf::actor_config config;
    set(*place, caf::make_actor<PlaceHolder, caf::strong_actor_ptr>(
                    system.next_actor_id(), system.node(), &system, config, *place));
  }
}

}  // namespace penstock::actors
