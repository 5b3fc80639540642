// A SmallCast has the actors of a small network, and a test can reach each of them. The actors are
// in a deterministic system, unless the test asks for another one.
#pragma once

#include <memory>
#include <string>

#include "actors/pipeline/pipeline_cast.hpp"
#include "tests/support/small_engine.hpp"

namespace penstock::testing {

class SmallCast : public SmallNetwork {
 public:
  /// Spawns the actors in a system with the options `system`, and writes the first variables.
  /// `options.deterministic` is ignored. By the clock `now`, the host tells for how long nothing
  /// has moved.
  explicit SmallCast(const SmallEngineOptions& options = {},
                     const actors::SystemOptions& system = {.deterministic = true},
                     actors::Stillness::Now now = &actors::Stillness::Clock::now);
  ~SmallCast() { actors::end(cast_); }

  actors::ActorSystem& system() { return system_; }
  /// Returns the setup that every actor has.
  const std::shared_ptr<const actors::PipelineSetup>& pipeline() const { return setup_; }
  actors::HostCalls& host() { return *host_; }
  /// Returns how many updates all stages of the first replica have done.
  std::uint64_t updates() const { return setup_->update_count->total(); }
  const actors::PipelineCast& cast() const { return cast_; }
  /// Returns the actor that is called `name` in the texts of errors.
  caf::actor actor(const std::string& name) const;
  template <class Handle>
  Handle actor(const std::string& name) const {
    return caf::actor_cast<Handle>(actor(name));
  }
  /// Returns the IPU of stage number `stage`.
  actors::DeviceHandle device(std::size_t stage, std::int64_t replica = 0) const {
    return actor<actors::DeviceHandle>("IPU " + std::to_string(setup_->ipu(replica, stage)));
  }
  std::string stage_name(std::size_t stage, std::int64_t replica = 0) const {
    return actors::stage_name(*setup_, replica, stage);
  }

  /// Returns the links to other actors that stage number `stage` of replica 0 was given. A test may
  /// change the links and send them to the stage.
  actors::StageLinks stage_links(std::size_t stage) const;
  /// Returns the links to other actors that the optimizer of stage number `stage` was given.
  actors::OptimizerLinks optimizer_links(std::size_t stage, std::int64_t replica = 0) const;
  /// Gives the optimizer of stage number `stage` the links to the actors with which it exchanges
  /// messages from now on.
  void introduce(std::size_t stage, actors::OptimizerLinks links, std::int64_t replica = 0);

  /// Begins a call. In a deterministic system, no actor does anything until the test lets it.
  template <class Message>
  void begin(Message message) {
    host().begin();
    caf::anon_send(cast_.step, std::move(message));
  }
  /// Begins to give all actors other rules.
  void begin_set_rules(const actors::UpdateRules& rules);
  void begin_windows(std::int64_t windows);
  /// Lets the actors run until the call has its answer, and returns the answer.
  actors::Answer finish();
  /// Does what the host does if nothing has moved for `quiet_seconds`, in which the number of beats
  /// has been `beats`.
  void call_watchdog(std::uint64_t beats, double quiet_seconds = 60) {
    actors::find_out_why_nothing_moves(*setup_, host().pulse, cast_, beats, quiet_seconds);
  }
  /// Returns the variables of replica number `replica`. No call may be under way.
  actors::Variables variables(std::size_t replica = 0) const;
  /// Ends the actors, and returns the variables of replica 0. @throws Error as
  /// actors::read_variables() does.
  actors::Variables variables_after_end();

 private:
  actors::ActorSystem system_;
  std::shared_ptr<const actors::PipelineSetup> setup_;
  std::shared_ptr<actors::HostCalls> host_;
  actors::PipelineCast cast_;
  std::int64_t micro_batches_begun_ = 0;
};

}  // namespace penstock::testing
