#include "actors/messages/envelope.hpp"

#include <utility>
#include <vector>

#include "graph/values/archive.hpp"

namespace penstock::graph {

template <>
inline constexpr Errc last_of<Errc> = Errc::internal;
template <>
inline constexpr Direction last_of<Direction> = Direction::backward;
template <>
inline constexpr actors::UpdateRound last_of<actors::UpdateRound> = actors::UpdateRound::gather;
template <>
inline constexpr actors::Role last_of<actors::Role> = actors::Role::part;
template <>
inline constexpr LearningRateSchedule::Kind last_of<LearningRateSchedule::Kind> =
    LearningRateSchedule::Kind::linear;

void each_constant(auto& archive, auto& hyper) {
  for (const Constant& constant : all_constants)
    std::visit([&](auto member) { archive(hyper.*member); }, constant.value);
}

void fields(Writer& writer, const ParameterRule& rule) {
  writer(std::string(rule.rule ? rule.rule->name : ""));
  each_constant(writer, rule.hyper);
}

void fields(Reader& reader, ParameterRule& rule) {
  std::string name;
  reader(name);
  rule.rule = name.empty() ? nullptr : &find_optimizer_rule(name);
  each_constant(reader, rule.hyper);
  if (rule.rule) validate(*rule.rule, rule.hyper);
}

void fields(Writer& writer, const LearningRateSchedule& schedule) {
  writer(schedule.segments());
}

void fields(Reader& reader, LearningRateSchedule& schedule) {
  std::vector<LearningRateSchedule::Segment> segments;
  reader(segments);
  schedule = LearningRateSchedule::of(segments);
}

}  // namespace penstock::graph

namespace penstock::actors {

void fields(graph::Writer& writer, const TensorList& list) {
  writer(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) writer(list[i]);
}

void fields(graph::Reader& reader, TensorList& list) {
  std::vector<Tensor> tensors;
  reader(tensors);
  list = tensors.empty() ? TensorList() : TensorList(std::move(tensors));
}

std::string to_string(const Address& address) {
  const std::string stage =
      "stage " + std::to_string(address.stage) + " of replica " + std::to_string(address.replica);
  switch (address.role) {
    case Role::stage:
      return stage;
    case Role::optimizer:
      return "optimizer of " + stage;
    case Role::feed:
      return "feed";
    case Role::step:
      return "step";
    case Role::gate:
      return "gate";
    case Role::supervisor:
      return "supervisor";
    case Role::part:
      return "part of a pipeline";
  }
  return "an unknown actor";
}

std::string encode(const Envelope& envelope) {
  graph::Writer writer;
  writer(envelope);
  return writer.take();
}

Envelope decode(std::string_view bytes) try {
  Envelope envelope;
  graph::Reader reader(bytes);
  reader(envelope);
  if (!reader.at_end()) graph::Reader::fail("nothing behind the message");
  return envelope;
} catch (const Error& error) {
  if (error.code() == Errc::out_of_memory) throw;
  throw Error(Errc::invalid_data, std::string("a message from another process: ") + error.what());
}

}  // namespace penstock::actors
