// A LoaderRig is a deterministic system with a loader, its readers, and a consumer of its batches,
// for the tests of both loaders.
#pragma once

#include <caf/actor_registry.hpp>
#include <caf/send.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "actors/loader/loader_actor.hpp"
#include "actors/loader/loader_watch.hpp"
#include "tests/actors/loader/batch_consumer.hpp"
#include "tests/actors/loader/reader_actors.hpp"
#include "tests/support/deterministic_run.hpp"

namespace penstock::testing {

/// `Actor` is the type of the handle of the loader's actor, and `Number` is the type of the one
/// number that a sample has. A class that derives from LoaderRig spawns the loader, and calls end()
/// in its destructor.
template <class Actor, class Number>
class LoaderRig {
 public:
  /// Tells all actors to end. Returns how many actors are left afterwards.
  std::size_t end() {
    watch_->end();
    mail_->close();
    caf::anon_send_exit(loader_, caf::exit_reason::user_shutdown);
    pool_.end();
    run_.run();
    return system_.caf().registry().running();
  }

  void begin_epoch(std::uint64_t epoch) {
    watch_->begin_epoch(epoch, std::stop_source());
    caf::anon_send(loader_, actors::StartEpoch{epoch, plan});
    consumer.begin_epoch();
  }
  /// Lets one actor handle one message. Returns false if no actor has a message.
  bool step() {
    const bool stepped = run_.step();
    consumer.look();
    return stepped;
  }
  void run() {
    while (step()) continue;
  }

  std::shared_ptr<const actors::EpochPlan> plan;  // This is the plan of the next epoch, or null.

 protected:
  /// Makes a system with `workers` workers, whose messages come in an order that is drawn from
  /// `seed`. The consumer takes at most `takes` batches of each epoch.
  LoaderRig(int workers, std::uint64_t seed, std::int64_t takes)
      : watch_(std::make_shared<actors::LoaderWatch>(workers)),
        system_({.deterministic = true}),
        pool_(system_, workers),
        run_(system_, seed),
        consumer(*port_, takes,
                 [this](const actors::TakeBatch& question) { caf::anon_send(loader_, question); }) {
  }
  ~LoaderRig() = default;

  actors::LoaderLinks links() { return {port_, mail_, &pool_}; }

  std::shared_ptr<actors::LoaderWatch> watch_;
  std::shared_ptr<actors::BatchPort> port_ = std::make_shared<actors::BatchPort>();
  std::shared_ptr<actors::ReaderMail> mail_ = std::make_shared<actors::ReaderMail>();
  actors::ActorSystem system_;
  ReaderActors pool_;
  DeterministicRun run_;
  Actor loader_;

 public:
  BatchConsumer<Number> consumer;
};

}  // namespace penstock::testing
