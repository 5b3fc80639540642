// An actor answers the message ExplainWait by explain_wait(). The message may come in the middle of
// a weight update, in which a lack of memory must not end an actor: if only some of the weights are
// updated, the weights cannot be read.
#pragma once

#include <new>

#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

/// Sends the Wait that `explain()` returns from `self` to `supervisor`, in answer to `question`. If
/// there is no memory for the answer, nothing is sent, and the supervisor reports that the actor
/// has not answered.
void explain_wait(auto* self, const SupervisorHandle& supervisor, const ExplainWait& question,
                  const auto& explain) {
  try {
    self->send(supervisor, WaitsFor{question.round, explain()});
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace penstock::actors
