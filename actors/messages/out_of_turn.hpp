// An actor refuses a message by throwing an Error before the message has changed anything. The
// actor ends, and the pipeline fails. A message of this process is refused only because of a bug,
// but another process may send anything at any time.
#pragma once

#include <cstdint>
#include <string>

#include "actors/execution/pipeline_setup.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {

/// Returns the error by which an actor refuses `message`, which cannot come now. `message` names
/// the message and, if several actors send it, its sender. `state` says what the actor waits for,
/// or why the message cannot come.
inline Error out_of_turn(const std::string& message, const std::string& state) {
  return {Errc::internal, "the message " + message + " came out of turn: " + state};
}

/// Checks that the pipeline has stage number `stage` of replica number `replica`, which the message
/// `name` says that it is from. @throws Error internal
inline void expect_stage(const PipelineSetup& setup, std::int32_t replica, std::int32_t stage,
                         const char* name) {
  if (setup.has_stage(replica, stage)) return;
  throw Error(Errc::internal, "the message " + std::string(name) + " is from stage " +
                                  std::to_string(stage) + " of replica " + std::to_string(replica) +
                                  ", which the pipeline does not have");
}

/// Checks that the pipeline has replica number `replica`, which the message `name` says that it is
/// from. @throws Error internal
inline void expect_replica(const PipelineSetup& setup, std::int32_t replica, const char* name) {
  if (replica >= 0 && replica < setup.replicas) return;
  throw Error(Errc::internal, "the message " + std::string(name) + " is from replica " +
                                  std::to_string(replica) + ", which the pipeline does not have");
}

}  // namespace penstock::actors
