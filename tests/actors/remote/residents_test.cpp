#include "actors/remote/residents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "tests/support/divided_cast.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using testing::DividedCast;
using testing::refusal;

constexpr std::int32_t strange = std::numeric_limits<std::int32_t>::max();

/// The stages 0 and 1 are in the host's process, stage 2 is in process 1, and stage 3 in process 2.
class ResidentsTest : public ::testing::Test {
 protected:
  /// Returns "" if an actor of process `from` may send `message` to the actor at `to` in process
  /// `here`, and the reason otherwise.
  std::string refused_from(std::int32_t from, std::size_t here, const Address& to,
                           RemoteMessage message) {
    const Envelope envelope{to, std::move(message)};
    const std::string text =
        refusal(Errc::invalid_data, [&] { expect_from(cast_.pipeline(here), from, envelope); });
    return text == "accepted" ? "" : text;
  }
  std::string undelivered(std::size_t here, const Address& to, RemoteMessage message) {
    const std::string text = refusal(Errc::invalid_data, [&] {
      deliver(cast_.cast(here).residents, {to, std::move(message)});
    });
    return text == "accepted" ? "" : text;
  }
  /// Returns the position of the first edge of the plan of kind `kind` that leads to stage `to`.
  std::int32_t edge_to(graph::EdgeKind kind, std::int32_t to) const {
    const auto& edges = cast_.plan().edges;
    const auto found = std::ranges::find_if(
        edges, [&](const graph::Edge& edge) { return edge.kind == kind && edge.to == to; });
    return static_cast<std::int32_t>(found - edges.begin());
  }

  DividedCast cast_{{.replicas = 2}, {0, 0, 1, 2}};
};

TEST_F(ResidentsTest, TakeMessagesOnlyFromTheProcessThatHasTheSender) {
  const auto text = [](const std::string& to, int process) {
    return "a message from another process to " + to + ": process " + std::to_string(process) +
           " does not have the actor that the message says it is from";
  };
  const Address step{Role::step}, gate{Role::gate}, feed{Role::feed};
  EXPECT_EQ(refused_from(1, 0, step, StageOutputs{.replica = 1, .stage = 2}), "");
  EXPECT_EQ(refused_from(2, 0, step, StageOutputs{.replica = 1, .stage = 2}), text("step", 2));
  EXPECT_EQ(refused_from(2, 0, step, UpdateApplied{0, 3}), "");
  EXPECT_EQ(refused_from(1, 0, step, UpdateApplied{0, 3}), text("step", 1));
  EXPECT_EQ(refused_from(1, 0, gate, GradientsReady{1, 2}), "");
  EXPECT_EQ(refused_from(1, 0, gate, GradientsReady{1, 0}), text("gate", 1));
  EXPECT_EQ(refused_from(2, 0, gate, RoundDone{.replica = 1, .stage = 3}), "");
  EXPECT_EQ(refused_from(2, 0, gate, RoundDone{.replica = 1, .stage = 2}), text("gate", 2));
  EXPECT_EQ(refused_from(1, 0, feed, Credit{0}), text("feed", 1))
      << "the first stage is in the host's process";
  EXPECT_EQ(refused_from(0, 1, {Role::part}, NewRules{}), "");
  EXPECT_EQ(refused_from(2, 1, {Role::part}, NewRules{}), text("part of a pipeline", 2));
  EXPECT_EQ(refused_from(1, 0, step, RulesTaken{1}), "");
  EXPECT_EQ(refused_from(2, 0, step, RulesTaken{1}), text("step", 2));
  EXPECT_EQ(refused_from(0, 1, {Role::stage, 1, 2}, OutputsTaken{}), "");
  EXPECT_EQ(refused_from(2, 1, {Role::stage, 1, 2}, OutputsTaken{}),
            text("stage 2 of replica 1", 2));
  for (const RemoteMessage& order :
       {RemoteMessage(UpdateOrder{}), RemoteMessage(Release{}), RemoteMessage(ExplainWait{})}) {
    const Address optimizer{Role::optimizer, 1, 2};
    EXPECT_EQ(refused_from(0, 1, optimizer, order), "");
    EXPECT_EQ(refused_from(2, 1, optimizer, order), text("optimizer of stage 2 of replica 1", 2));
  }
}

TEST_F(ResidentsTest, TakeTensorsOnlyFromTheProcessAtTheOtherEndOfTheEdge) {
  const Address stage{Role::stage, 1, 3};
  const EdgeTensor activation{.edge = edge_to(graph::EdgeKind::activation, 3)};
  EXPECT_EQ(refused_from(1, 2, stage, activation), "");
  EXPECT_NE(refused_from(0, 2, stage, activation), "");
  const EdgeTensor gradient{.edge = edge_to(graph::EdgeKind::gradient, 2)};
  EXPECT_EQ(refused_from(2, 1, {Role::stage, 0, 2}, gradient), "");
  EXPECT_NE(refused_from(0, 1, {Role::stage, 0, 2}, gradient), "");
  const EdgeTensor input{.edge = edge_to(graph::EdgeKind::input, 3)};
  EXPECT_EQ(refused_from(0, 2, stage, input), "");
  EXPECT_NE(refused_from(1, 2, stage, input), "");
}

TEST_F(ResidentsTest, TakeNoMessageFromWhatThereIsNot) {
  for (const std::int32_t number : {-1, 2, strange}) {
    EXPECT_NE(refused_from(1, 0, {Role::step}, UpdateApplied{number, 2}), "") << number;
    EXPECT_NE(refused_from(host_process, 0, {Role::feed}, Credit{number}), "") << number;
    EXPECT_NE(refused_from(-1, 0, {Role::step}, UpdateApplied{number, 2}), "") << number;
  }
  for (const std::int32_t number : {-1, 4, strange})
    EXPECT_NE(refused_from(1, 0, {Role::step}, UpdateApplied{0, number}), "") << number;
  for (const std::int32_t edge :
       {-1, static_cast<std::int32_t>(cast_.plan().edges.size()), strange})
    EXPECT_NE(refused_from(1, 2, {Role::stage, 0, 3}, EdgeTensor{.edge = edge}), "") << edge;
  const EdgeTensor activation{.edge = edge_to(graph::EdgeKind::activation, 3)};
  EXPECT_NE(refused_from(1, 2, {Role::stage, strange, 3}, activation), "");
}

TEST_F(ResidentsTest, AreFoundByTheirAddresses) {
  EXPECT_EQ(undelivered(1, {Role::stage, 1, 2}, ExplainWait{}), "");
  EXPECT_EQ(undelivered(0, {Role::supervisor}, WaitsFor{}), "");
  const std::string subject = "a message from another process to ",
                    absent = ": there is no such actor in this process";
  EXPECT_EQ(undelivered(1, {Role::stage, 1, 3}, ExplainWait{}),
            subject + "stage 3 of replica 1" + absent);
  EXPECT_EQ(undelivered(1, {Role::optimizer, 2, 2}, Release{}),
            subject + "optimizer of stage 2 of replica 2" + absent);
  EXPECT_EQ(undelivered(1, {Role::gate}, GradientsReady{}), subject + "gate" + absent);
  EXPECT_EQ(undelivered(0, {Role::part}, NewRules{}), subject + "part of a pipeline" + absent);
  EXPECT_EQ(undelivered(0, {Role::supervisor, 1, 0}, WaitsFor{}),
            subject + "supervisor: there is only one such actor, without a number");
}

TEST_F(ResidentsTest, GetOnlyMessagesThatTheyUnderstand) {
  const std::string reason = ": the actor does not understand the message";
  EXPECT_EQ(undelivered(0, {Role::feed}, Release{}),
            "a message from another process to feed" + reason);
  EXPECT_EQ(undelivered(1, {Role::stage, 0, 2}, UpdateOrder{}),
            "a message from another process to stage 2 of replica 0" + reason);
}

}  // namespace
}  // namespace penstock::actors
