// Residents are the actors of one process that get messages from other processes. Messages are
// checked before they reach an actor: that the actor is here and understands the message, and, if
// the message says which actor it is from, that the process that sends it has that actor.
#pragma once

#include <map>
#include <memory>

#include "actors/execution/pipeline_setup.hpp"
#include "actors/messages/envelope.hpp"
#include "actors/messages/handles.hpp"

namespace penstock::actors {

struct Residents {
  std::map<Address, StageHandle> stages = {};
  std::map<Address, OptimizerHandle> optimizers = {};
  PartHandle part = {};  ///< This is null in the host's process and in inference.
  // These are null except in the host's process. The gate is null in inference.
  FeedHandle feed = {};
  StepHandle step = {};
  GateHandle gate = {};
  SupervisorHandle supervisor = {};
};

/// Checks that an actor of process number `process` may send `envelope` to this process.
/// @throws Error invalid_data if it may not.
void expect_from(const PipelineSetup& setup, std::int32_t process, const Envelope& envelope);

/// Sends the message of `envelope` to the actor whose address it has.
/// @throws Error invalid_data if there is no such actor here, or if it does not understand the
/// message; std::bad_alloc.
void deliver(const Residents& residents, Envelope envelope);

}  // namespace penstock::actors
