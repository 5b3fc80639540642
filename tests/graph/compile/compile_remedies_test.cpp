// A8, D12: what a plan that does not fit is told would help does, once it is followed.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "graph/compile/compile.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;
using Texts = std::vector<std::string>;

/// Returns the tutorials' network: two convolutions that work in batch lanes, and two layers that
/// do not.
ModelBuilder digits_network() {
  ModelBuilder model;
  const auto x = model.input("x", {1, 28, 28}), labels = model.input("labels", {}, DType::i64);
  const auto convolution = [&](const std::string& block, ValueId of, Shape weight) {
    const auto y = model.block(block).apply("conv2d", {of, model.parameter(block, weight)});
    return model.apply("relu", {model.apply("max_pool2d", {y}, {{"kernel", 2}})});
  };
  const auto second = convolution("B2", convolution("B1", x, {10, 1, 5, 5}), {20, 10, 5, 5});
  const auto flat = model.block("B3").apply("flatten", {second});
  const auto hidden = model.apply("relu", {model.linear("fc3", flat, 256)});
  const auto logits = model.block("B4").linear("fc4", hidden, 10);
  model.output("logits", logits);
  model.loss(model.apply("cross_entropy", {logits, labels}));
  return model;
}

/// Returns a request with the state that AdamW keeps.
CompileRequest request_on(std::vector<std::int32_t> ipus, std::int64_t replicas = 1) {
  return {.training = true,
          .batch = 40,
          .ipus = std::move(ipus),
          .replicas = replicas,
          .memory = {.state =
                         [](const std::string&) {
                           return KeptState{2, true};
                         },
                     .shard_state = {.minimum_elements = 1},
                     .replicas = replicas}};
}

std::int64_t most_bytes(const Plan& plan, const CompileRequest& request) {
  std::int64_t most = 0;
  for (const auto& [ipu, bytes] : needed_bytes(plan, request.replicas, request.memory))
    most = std::max(most, bytes);
  return most;
}

/// Returns all remedies but the last one, which is about the model: "smaller stages".
Texts remedies_in(std::string text) {
  const std::string before = "; what would help: ", between = "; or ";
  text.erase(0, text.find(before) + before.size());
  Texts remedies;
  for (auto end = text.find(between); end != text.npos; end = text.find(between)) {
    remedies.push_back(text.substr(0, end));
    text.erase(0, end + between.size());
  }
  return remedies;
}

/// The kind of a remedy that is in the text, which the request then follows.
struct Followed {
  CompileRequest request;
  std::string kind;
};

Followed follow(CompileRequest request, const std::string& remedy) {
  std::string kind;
  const auto says = [&](const std::string& what) {
    const bool found = remedy.find(what) != remedy.npos;
    if (found) kind = what;
    return found;
  };
  const std::string batch = "micro-batches of ";
  if (says(batch)) request.batch = std::stoll(remedy.substr(batch.size()));
  for (const Schedule* schedule : all_schedules())
    if (says("the schedule " + std::string(schedule->name) + ",")) request.schedule = schedule;
  request.recompute.on |= says("recomputation");
  request.memory.shard_state.on |= says("sharding.optimizer_state");
  const auto in_host_store = [&](const std::string& of) {
    return says("offload." + of) || says("not options.topology.phased.on_ipu." + of);
  };
  request.memory.offload_state.on |= in_host_store("optimizer_state");
  request.offload.accumulators.on |= in_host_store("accumulators");
  request.offload.activations.on |= in_host_store("activations");
  request.offload.weights.on |= in_host_store("weights");
  if (says("a turn for each micro-batch")) request.phased->turn = 1;
  return {request, kind};
}

/// Follows every remedy that is offered within some shares of what the request needs.
std::set<std::string> follow_all(const ModelBuilder& model, CompileRequest request) {
  std::set<std::string> kinds;
  const std::int64_t need = most_bytes(compile(model.graph(), request).plan, request);
  for (const std::int64_t percent : {99, 80, 60, 40, 20, 10, 5}) {
    request.memory.bytes = need * percent / 100;
    const std::string text = refusal(Errc::out_of_memory, [&] { compile(model.graph(), request); });
    EXPECT_NE(text, "accepted");
    for (const std::string& remedy : remedies_in(text)) {
      const auto followed = follow(request, remedy);
      EXPECT_NE(followed.kind, "") << remedy;
      kinds.insert(followed.kind);
      const auto try_it = [&] {
        const Plan plan = compile(model.graph(), followed.request).plan;
        const std::string needs = size_text(most_bytes(plan, followed.request));
        EXPECT_NE(remedy.find("which needs " + needs), remedy.npos) << remedy << ": " << needs;
      };
      EXPECT_EQ(refusal(Errc::out_of_memory, try_it), "accepted") << remedy;
    }
  }
  return kinds;
}

TEST(CompileRemedies, AreAcceptedOnceTheyAreFollowed) {
  const ModelBuilder model = digits_network();
  std::set<std::string> kinds;
  for (const auto& ipus : {std::vector<std::int32_t>{0, 1, 2, 3}, {0, 0, 1, 1}, {1, 0, 0, 1}})
    for (const std::int64_t replicas : {1, 2})
      kinds.merge(follow_all(model, request_on(ipus, replicas)));
  CompileRequest inference = request_on({0, 0, 0, 0});
  inference.training = false;
  kinds.merge(follow_all(model, inference));
  CompileRequest phased = request_on({0, 0, 0, 0});
  phased.schedule = &sequential;
  phased.phased = PhaseRequest{.turn = 4};
  kinds.merge(follow_all(model, phased));
  for (const char* kind : {"micro-batches of ", "the schedule sequential,", "recomputation",
                           "sharding.optimizer_state", "offload.accumulators",
                           "offload.activations", "offload.weights", "a turn for each micro-batch",
                           "not options.topology.phased.on_ipu.accumulators"})
    EXPECT_EQ(kinds.count(kind), 1U) << kind;
}

// One sample more is refused again: what is said is the number that fits, lanes and all.
TEST(CompileRemedies, NameAMicroBatchThatFitsWhereOneMoreDoesNot) {
  const ModelBuilder model = digits_network();
  int offered = 0;
  for (const std::int64_t bytes : {100'000, 200'000, 400'000, 700'000, 1'000'000, 1'500'000,
                                   2'000'000, 2'500'000, 3'000'000}) {
    CompileRequest request = request_on({});
    request.memory.bytes = bytes;
    const auto refused = [&] {
      return refusal(Errc::out_of_memory, [&] { compile(model.graph(), request); });
    };
    for (const std::string& remedy : remedies_in(refused())) {
      if (!remedy.starts_with("micro-batches of ")) continue;
      ++offered;
      request = follow(request, remedy).request;
      EXPECT_EQ(refused(), "accepted") << bytes << ": " << remedy;
      ++request.batch;
      EXPECT_NE(refused(), "accepted") << bytes << ": " << remedy;
    }
  }
  EXPECT_GE(offered, 3);
}

// Adding a matrix to its transpose takes as many samples as there are features, or one.
TEST(CompileRemedies, LeaveOutMicroBatchesThatTheModelCannotHave) {
  ModelBuilder model;
  const auto y = model.linear("fc", model.input("x", {4}), 4);
  model.loss(model.apply(
      "add", {y, model.apply("transpose", {y}, {{"axes", std::vector<std::int64_t>{1, 0}}})}));
  CompileRequest request = request_on({});
  request.batch = 4;
  request.memory.bytes = 64;
  const std::string text = refusal(Errc::out_of_memory, [&] { compile(model.graph(), request); });
  EXPECT_NE(text.find("what would help: smaller stages"), text.npos) << text;
}

}  // namespace
}  // namespace penstock::graph
