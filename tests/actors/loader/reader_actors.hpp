// ReaderActors are a pool whose readers are actors, so that a deterministic run decides when each
// reader does its jobs.
#pragma once

#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "actors/loader/reader_job.hpp"
#include "actors/system/actor_system.hpp"

namespace penstock::testing {

struct JobMessage {
  std::shared_ptr<actors::ReaderJob> job = {};
};

}  // namespace penstock::testing

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::testing::JobMessage)

namespace penstock::testing {

class ReaderActors : public actors::ReaderPool {
 public:
  ReaderActors(actors::ActorSystem& system, int readers) {
    for (int reader = 0; reader < readers; ++reader)
      readers_.push_back(system.spawn(actors::RunsOn::workers, body, reader));
  }

  void post(int reader, std::unique_ptr<actors::ReaderJob> job) noexcept override {
    caf::anon_send(readers_[static_cast<std::size_t>(reader)], JobMessage{std::move(job)});
  }

  void end() {
    for (const caf::actor& reader : readers_)
      caf::anon_send_exit(reader, caf::exit_reason::user_shutdown);
  }

 private:
  static caf::behavior body(caf::event_based_actor*, int) {
    return {[](const JobMessage& message) { message.job->run(); }};
  }

  std::vector<caf::actor> readers_;
};

}  // namespace penstock::testing
