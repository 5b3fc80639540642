// An Envelope is a message on its way to an actor in another process. Its bytes hold numbers, text
// and tensors, and can be read only by a process of the same build on a machine of the same kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "actors/messages/data_messages.hpp"

namespace penstock::actors {

/// A Role is what an actor does that gets messages from other processes.
enum class Role : std::uint8_t { stage, optimizer, feed, step, gate, supervisor, part };

/// An Address names an actor of a pipeline.
struct Address {
  Role role = Role::stage;
  // These are 0 for an actor that there is only once.
  std::int32_t replica = 0;
  std::int32_t stage = 0;

  auto operator<=>(const Address&) const = default;
};

/// Returns a text such as "optimizer of stage 2 of replica 0", or "gate".
std::string to_string(const Address& address);

/// A RemoteMessage is a message of DataMessages that actors of different processes send each other.
using RemoteMessage = std::variant<EdgeTensor, StageOutputs, OutputsTaken, Credit, TurnNear,
                                   GradientsReady, UpdateOrder, RoundDone, Release, UpdateApplied,
                                   NewRules, RulesTaken, Failed, ExplainWait, WaitsFor>;

struct Envelope {
  Address to = {};
  RemoteMessage message = {};
};

/// Returns the bytes of `envelope`.
std::string encode(const Envelope& envelope);
/// Returns the envelope with the bytes `bytes`. The memory that it takes is bounded by the number
/// of bytes. Its message may still be one that cannot come now, or that the plan has no place for.
/// @throws Error invalid_data if the bytes are not those of an envelope; out_of_memory;
/// std::bad_alloc.
Envelope decode(std::string_view bytes);

}  // namespace penstock::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(penstock::actors::Envelope)
