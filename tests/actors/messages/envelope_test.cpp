#include "actors/messages/envelope.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::actors {
namespace {

using testing::refusal;
using testing::same_bits;

/// Encodes `message` for `to`, decodes the bytes, and returns the message that comes out.
template <class Message>
Message sent(Message message, const Address& to = {}) {
  const std::string bytes = encode({to, std::move(message)});
  const Envelope envelope = decode(bytes);
  EXPECT_EQ(envelope.to, to);
  EXPECT_EQ(encode(envelope), bytes);
  return std::get<Message>(envelope.message);
}

TEST(Envelope, BringsTensorsWithTheirBits) {
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  for (const Tensor& tensor :
       {Tensor({2, 3}, {1, -0.0f, not_a_number, 4, 5, 6}), Tensor({}, {7}),
        Tensor::zeros(DType::f32, {0, 4}), Tensor({2}, std::vector<std::int64_t>{-1, 1}),
        Tensor({3}, std::vector<std::uint8_t>{0, 128, 255})}) {
    const EdgeTensor got = sent(EdgeTensor{5, 1'000'000'000'000, tensor}, {Role::stage, 1, 2});
    EXPECT_EQ(got.edge, 5);
    EXPECT_EQ(got.micro_batch, 1'000'000'000'000);
    EXPECT_TRUE(same_bits(got.tensor, tensor));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got.tensor.raw()) % 64, 0u) << "kernels need that";
  }
  EXPECT_FALSE(sent(EdgeTensor{.edge = 1}).tensor) << "an edge of kind `order` brings no tensor";
}

TEST(Envelope, BringsListsOfTensors) {
  const TensorList list({Tensor({2}, {1, 2}), Tensor({}, {3})});
  const TensorList got = sent(StageOutputs{1, 2, 3, list}).tensors;
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(same_bits(got[0], list[0]));
  EXPECT_TRUE(same_bits(got[1], list[1]));
  EXPECT_EQ(sent(StageOutputs{}).tensors.size(), 0u);
}

TEST(Envelope, BringsNumbersTextAndLists) {
  EXPECT_EQ(sent(Credit{3}).replica, 3);
  EXPECT_EQ(sent(TurnNear{{Direction::backward, 7}}).work, (Work{Direction::backward, 7}));
  const UpdateOrder order = sent(UpdateOrder{UpdateRound::follow, 0.1, {1, 2, 3}});
  EXPECT_EQ(order.round, UpdateRound::follow);
  EXPECT_EQ(order.clip_factor, 0.1);
  EXPECT_EQ(order.directions, (std::vector<double>{1, 2, 3}));
  const RoundDone done =
      sent(RoundDone{UpdateRound::measure, 1, 2, {{{4, 0.5}}, {{5, {{1}, {2, 3}, {4}}}}}});
  ASSERT_EQ(done.norms.whole.size(), 1u);
  EXPECT_EQ(done.norms.whole[0].variable, 4);
  EXPECT_EQ(done.norms.whole[0].squared, 0.5);
  ASSERT_EQ(done.norms.shards.size(), 1u);
  EXPECT_EQ(done.norms.shards[0].variable, 5);
  EXPECT_EQ(done.norms.shards[0].part.head, (std::vector<float>{1}));
  EXPECT_EQ(done.norms.shards[0].part.blocks, (std::vector<double>{2, 3}));
  EXPECT_EQ(done.norms.shards[0].part.tail, (std::vector<float>{4}));
  const Failure failure = sent(Failed{{Errc::out_of_memory, "no room", true}}).failure;
  EXPECT_EQ(failure.code, Errc::out_of_memory);
  EXPECT_EQ(failure.text, "no room");
  EXPECT_TRUE(failure.stops_update);
  const WaitsFor waits = sent(WaitsFor{9, {"gate", "waits", {{"a", "b"}, {}}, 77}});
  EXPECT_EQ(waits.round, 9u);
  EXPECT_EQ(waits.wait.actor, "gate");
  EXPECT_EQ(waits.wait.ways, (std::vector<std::vector<std::string>>{{"a", "b"}, {}}));
  EXPECT_EQ(waits.wait.since_ns, 77);
}

TEST(Envelope, BringsRulesByTheirNamesAndConstants) {
  const graph::OptimizerRule& lamb = graph::find_optimizer_rule("lamb");
  UpdateRules rules{.variables = {{&lamb, {.learning_rate = 0.25, .max_weight_norm = 8}}, {}},
                    .max_grad_norm = 0.5,
                    .exact_max_grad_norm = true,
                    .loss_scaling = 1024,
                    .schedule = LearningRateSchedule::cosine(9, 0.5).after_warm_up(4)};
  const UpdateRules got = sent(NewRules{rules}, {Role::part}).rules;
  ASSERT_EQ(got.variables.size(), 2u);
  EXPECT_EQ(got.variables[0].rule, &lamb);
  EXPECT_EQ(got.variables[1].rule, nullptr);
  for (const graph::Constant& constant : graph::all_constants)
    std::visit(
        [&](auto member) {
          EXPECT_EQ(got.variables[0].hyper.*member, rules.variables[0].hyper.*member)
              << constant.name;
        },
        constant.value);
  EXPECT_EQ(got.max_grad_norm, 0.5);
  EXPECT_TRUE(got.exact_max_grad_norm);
  EXPECT_EQ(got.loss_scaling, 1024);
  for (std::int64_t update = 0; update < 20; ++update)
    EXPECT_EQ(got.schedule.at(update), rules.schedule.at(update)) << update;
  EXPECT_EQ(sent(RulesTaken{2}, {Role::step}).process, 2);
}

std::string refused(const std::string& bytes) {
  return refusal(Errc::invalid_data, [&] { decode(bytes); });
}

const std::string subject = "a message from another process: expected ";

// The bytes of an envelope are the role, the replica, the stage, the kind of message, and the
// message's members.
constexpr std::size_t kind_at = 1 + 4 + 4;

TEST(Envelope, IsRefusedWhereverItIsCutShort) {
  const std::string bytes =
      encode({{Role::step}, StageOutputs{1, 2, 3, TensorList({Tensor({2}, {1, 2})})}});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(refused(bytes.substr(0, size)).substr(0, subject.size()), subject) << size;
  EXPECT_EQ(refused(bytes + '\0'), subject + "nothing behind the message");
}

TEST(Envelope, IsRefusedIfItNamesWhatThereIsNot) {
  std::string bytes = encode({{Role::supervisor}, Failed{}});
  bytes[0] = 7;
  EXPECT_EQ(refused(bytes), subject + "an enumerator");
  bytes[0] = 5;
  bytes[kind_at] = 15;
  EXPECT_EQ(refused(bytes), subject + "one of 15 kinds");
  bytes = encode({{Role::supervisor}, Failed{{.stops_update = true}}});
  bytes.back() = 2;
  EXPECT_EQ(refused(bytes), subject + "a truth value");
  bytes = encode({{Role::stage}, TurnNear{}});
  bytes[kind_at + 1] = 2;
  EXPECT_EQ(refused(bytes), subject + "an enumerator");
}

TEST(Envelope, IsRefusedIfItsRulesAreOutOfRange) {
  const graph::OptimizerRule& rule = graph::find_optimizer_rule("adamw");
  const auto refused_rules = [&](const graph::Hyper& hyper, const LearningRateSchedule& schedule) {
    return refused(
        encode({{Role::part}, NewRules{{.variables = {{&rule, hyper}}, .schedule = schedule}}}));
  };
  EXPECT_EQ(refused_rules({}, {}), "accepted");
  EXPECT_NE(refused_rules({.beta1 = 1}, {}).find("adamw.beta1"), std::string::npos);
  std::string bytes = encode({{Role::part}, NewRules{{.variables = {{&rule, {}}}}}});
  bytes[bytes.find("adamw")] = 'A';
  EXPECT_NE(refused(bytes).find("there is no optimizer named \"Adamw\""), std::string::npos);
  // The number of updates that a formula divides by comes right before the length of the segment.
  bytes = encode({{Role::part}, NewRules{{.schedule = LearningRateSchedule::step(7)}}});
  const std::size_t updates_at = bytes.size() - 2 * sizeof(std::int64_t);
  ASSERT_EQ(bytes[updates_at], 7);
  bytes[updates_at] = 0;
  EXPECT_NE(refused(bytes).find("schedule[0]"), std::string::npos) << refused(bytes);
}

// A tensor whose elements are not there is refused before memory is taken for it.
TEST(Envelope, IsRefusedIfItAnnouncesMoreThanThereIs) {
  const std::string bytes = encode({{}, EdgeTensor{0, 0, Tensor({2}, {1, 2})}});
  const std::size_t dims_at = bytes.size() - 2 * sizeof(float) - sizeof(std::int64_t);
  for (const std::int64_t dim : {3, 1 << 30}) {
    std::string changed = bytes;
    changed.replace(dims_at, sizeof dim, reinterpret_cast<const char*>(&dim), sizeof dim);
    EXPECT_EQ(refused(changed),
              subject + std::to_string(static_cast<std::size_t>(dim) * 4) + " more bytes");
  }
  std::string negative = bytes;
  const std::int64_t dim = -1;
  negative.replace(dims_at, sizeof dim, reinterpret_cast<const char*>(&dim), sizeof dim);
  EXPECT_EQ(refused(negative),
            "a message from another process: shape: a dimension is negative: -1");
}

TEST(Envelope, HoldsNoTruthValueButFalseAndTrue) {
  const std::array<bool, 2> truths{true, false};
  const std::string bytes = encode({{}, EdgeTensor{0, 0, Tensor({2}, truths)}});
  EXPECT_NO_THROW(decode(bytes));
  std::string changed = bytes;
  changed.back() = 2;
  EXPECT_EQ(refused(changed), subject + "a tensor of truth values");
}

TEST(Envelope, IsReadOrRefusedWhateverItsBytesAre) {
  std::mt19937_64 random(1);
  const std::vector<std::string> seeds{
      encode({{Role::stage, 1, 2}, EdgeTensor{5, 6, Tensor({2, 3}, {1, 2, 3, 4, 5, 6})}}),
      encode({{Role::step}, StageOutputs{1, 2, 3, TensorList({Tensor({}, {3})})}}),
      encode({{Role::gate}, RoundDone{UpdateRound::measure, 1, 2, {{{4, 5}}, {{5, {{1}, {2}}}}}}}),
      encode({{Role::supervisor}, WaitsFor{9, {"gate", "waits", {{"a"}, {}}, 77}}})};
  for (int draw = 0; draw < 20'000; ++draw) {
    std::string bytes = seeds[random() % seeds.size()];
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      const std::string again = encode(decode(bytes));
      EXPECT_EQ(again.size(), bytes.size());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_data) << error.what();
    }
  }
}

}  // namespace
}  // namespace penstock::actors
