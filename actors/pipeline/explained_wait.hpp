// An actor answers ExplainWait by explain_wait(). It may be asked in the middle of a weight update,
// in which a lack of memory must end no actor: weights of which only some are updated cannot be
// read.
#pragma once

#include <new>

#include "actors/messages/local_messages.hpp"

namespace penstock::actors {

/// Answers `question` of `supervisor`'s, from `self`, by the Wait that `explain` returns. Without
/// memory for it there is no answer, and the supervisor counts `self` among the silent ones.
void explain_wait(auto* self, const SupervisorHandle& supervisor, const ExplainWait& question,
                  const auto& explain) {
  try {
    self->send(supervisor, WaitsFor{question.round, explain()});
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace penstock::actors
