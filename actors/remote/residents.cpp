#include "actors/remote/residents.hpp"

#include <string>
#include <utility>
#include <variant>

#include "actors/messages/local_messages.hpp"
#include "penstock/error.hpp"

namespace penstock::actors {
namespace {

[[noreturn]] void refuse_envelope(const Envelope& envelope, const std::string& reason) {
  throw Error(Errc::invalid_data,
              "a message from another process to " + to_string(envelope.to) + ": " + reason);
}

template <class Handle>
void send_to(const Handle& actor, Envelope& envelope) {
  if (!actor) refuse_envelope(envelope, "there is no such actor in this process");
  std::visit(
      [&]<class Message>(Message& message) {
        if constexpr (is_one_of<caf::reacts_to<Message>, Handle>)
          caf::anon_send(actor, std::move(message));
        else
          refuse_envelope(envelope, "the actor does not understand the message");
      },
      envelope.message);
}

template <class Handle>
Handle found(const std::map<Address, Handle>& actors, const Address& address) {
  const auto at = actors.find(address);
  return at == actors.end() ? Handle() : at->second;
}

/// These are returned in place of a process: `nowhere` if there is no actor that a message could be
/// from, and `anywhere` if the message does not say which actor it is from.
constexpr std::int32_t nowhere = -1, anywhere = -2;

/// A Sender returns the process from which a message to `to` has to come.
struct Sender {
  const PipelineSetup& setup;
  const Address& to;

  /// Returns the process of stage number `stage` of replica number `replica`, or `nowhere` if the
  /// pipeline does not have that stage.
  std::int32_t process_of(std::int32_t replica, std::int32_t stage) const {
    return setup.has_stage(replica, stage)
               ? setup.division.process_of(static_cast<std::size_t>(stage))
               : nowhere;
  }

  std::int32_t operator()(const EdgeTensor& message) const {
    const auto& edges = setup.plan->edges;
    if (message.edge < 0 || static_cast<std::size_t>(message.edge) >= edges.size()) return nowhere;
    const graph::Edge& edge = edges[static_cast<std::size_t>(message.edge)];
    return edge.from == graph::host ? host_process : process_of(to.replica, edge.from);
  }
  /// Messages with these members say which stage they are from.
  template <class Message>
  requires requires(const Message& message) {
    message.replica;
    message.stage;
  }
  std::int32_t operator()(const Message& message) const {
    return process_of(message.replica, message.stage);
  }
  std::int32_t operator()(const Credit& message) const { return process_of(message.replica, 0); }
  std::int32_t operator()(const RulesTaken& message) const {
    return message.process >= 0 ? message.process : nowhere;
  }
  std::int32_t operator()(const NewRules&) const { return host_process; }
  std::int32_t operator()(const OutputsTaken&) const { return host_process; }
  std::int32_t operator()(const UpdateOrder&) const { return host_process; }
  std::int32_t operator()(const Release&) const { return host_process; }
  std::int32_t operator()(const ExplainWait&) const { return host_process; }
  std::int32_t operator()(const TurnNear&) const { return anywhere; }
  std::int32_t operator()(const Failed&) const { return anywhere; }
  std::int32_t operator()(const WaitsFor&) const { return anywhere; }
};

}  // namespace

void expect_from(const PipelineSetup& setup, std::int32_t process, const Envelope& envelope) {
  const std::int32_t expected = std::visit(Sender{setup, envelope.to}, envelope.message);
  if (expected == nowhere || (expected != process && expected != anywhere))
    refuse_envelope(envelope, "process " + std::to_string(process) +
                                  " does not have the actor that the message says it is from");
}

void deliver(const Residents& residents, Envelope envelope) {
  const bool one_of_many = envelope.to.role == Role::stage || envelope.to.role == Role::optimizer;
  if (!one_of_many && envelope.to != Address{envelope.to.role})
    refuse_envelope(envelope, "there is only one such actor, without a number");
  switch (envelope.to.role) {
    case Role::stage:
      return send_to(found(residents.stages, envelope.to), envelope);
    case Role::optimizer:
      return send_to(found(residents.optimizers, envelope.to), envelope);
    case Role::feed:
      return send_to(residents.feed, envelope);
    case Role::step:
      return send_to(residents.step, envelope);
    case Role::gate:
      return send_to(residents.gate, envelope);
    case Role::supervisor:
      return send_to(residents.supervisor, envelope);
    case Role::part:
      return send_to(residents.part, envelope);
  }
}

}  // namespace penstock::actors
