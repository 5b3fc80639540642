// A8 and D12 of docs/reference.md: if a plan does not fit, the refusal says what would help. These
// tests follow the advice and check that it does help.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "graph/compile/compile.hpp"
#include "graph/compile/ipu_memory_refusal.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;

/// Returns the tutorials' network: two convolutions in the batch-lane layout, and two layers in the
/// usual one.
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

/// Returns a request to train on `ipus`, with the optimizer's state that AdamW keeps.
CompileRequest request_on(std::vector<std::int32_t> ipus, std::int64_t replicas = 1) {
  return {.training = true,
          .batch = 40,
          .options = {.topology = {.ipus = std::move(ipus)}},
          .gradient_accumulation = 16,
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

/// Returns the remedies that the refusal of `request` offers.
std::vector<Remedy> remedies_of(const ModelBuilder& model, const CompileRequest& request) {
  try {
    compile(model.graph(), request);
  } catch (const IpuMemoryRefusal& refusal) {
    return refusal.advice().remedies;
  }
  ADD_FAILURE() << "accepted";
  return {};
}

/// Returns the number that follows `before` at the beginning of `text`.
std::int64_t number_after(const std::string& before, const std::string& text) {
  EXPECT_TRUE(text.starts_with(before)) << text;
  return std::stoll(text.substr(before.size()));
}

const Schedule* schedule_named_in(const std::string& text) {
  for (const Schedule* schedule : all_schedules())
    if (text == "the schedule " + std::string(schedule->name)) return schedule;
  ADD_FAILURE() << text;
  return &grouped;
}

void turn_on(CompileRequest& request, Option option, const std::string& text) {
  if (option == Option::batch) request.batch = number_after("micro-batches of ", text);
  if (option == Option::schedule) request.schedule = schedule_named_in(text);
  request.recompute.on |= option == Option::recompute;
  request.memory.shard_state.on |= option == Option::shard_optimizer_state;
  request.memory.offload_state.on |= option == Option::offload_optimizer_state;
  request.offload.accumulators.on |= option == Option::offload_accumulators;
  request.offload.activations.on |= option == Option::offload_activations;
  request.offload.weights.on |= option == Option::offload_weights;
}

void turn_off(CompileRequest& request, Option option) {
  request.memory.offload_state.on |= option == Option::optimizer_state_on_ipu;
  request.offload.accumulators.on |= option == Option::accumulators_on_ipu;
  request.offload.activations.on |= option == Option::activations_on_ipu;
  request.offload.weights.on |= option == Option::weights_on_ipu;
  if (option == Option::batch_serial) request.phased->turn = 1;
}

CompileRequest follow(CompileRequest request, const Remedy& remedy) {
  for (const Option option : remedy.turned_on) turn_on(request, option, remedy.text);
  for (const Option option : remedy.turned_off) turn_off(request, option);
  return request;
}

/// Gives `request` several shares of the memory that it needs, and follows every remedy that the
/// refusals offer. Returns the options that the remedies named.
std::set<Option> follow_all(const ModelBuilder& model, CompileRequest request) {
  std::set<Option> named;
  const std::int64_t need = most_bytes(compile(model.graph(), request).plan, request);
  for (const std::int64_t percent : {99, 80, 60, 40, 20, 10, 5}) {
    request.memory.bytes = need * percent / 100;
    for (const Remedy& remedy : remedies_of(model, request)) {
      EXPECT_FALSE(remedy.turned_on.empty() && remedy.turned_off.empty()) << remedy.text;
      named.insert(remedy.turned_on.begin(), remedy.turned_on.end());
      named.insert(remedy.turned_off.begin(), remedy.turned_off.end());
      const CompileRequest followed = follow(request, remedy);
      const auto try_it = [&] {
        const Plan plan = compile(model.graph(), followed).plan;
        const std::string needs = "which needs " + size_text(most_bytes(plan, followed));
        EXPECT_TRUE(remedy.consequence.starts_with(needs)) << remedy.text << ": " << needs;
      };
      EXPECT_EQ(refusal(Errc::out_of_memory, try_it), "accepted") << remedy.text;
    }
  }
  return named;
}

TEST(CompileRemedies, AreAcceptedOnceTheyAreFollowed) {
  const ModelBuilder model = digits_network();
  std::set<Option> named;
  for (const auto& ipus : {std::vector<std::int32_t>{0, 1, 2, 3}, {0, 0, 1, 1}, {1, 0, 0, 1}})
    for (const std::int64_t replicas : {1, 2})
      named.merge(follow_all(model, request_on(ipus, replicas)));
  CompileRequest inference = request_on({0, 0, 0, 0});
  inference.training = false;
  named.merge(follow_all(model, inference));
  CompileRequest phased = request_on({0, 0, 0, 0});
  phased.schedule = &sequential;
  phased.phased = PhaseRequest{.turn = 4};
  named.merge(follow_all(model, phased));
  for (const Option option :
       {Option::batch, Option::schedule, Option::recompute, Option::shard_optimizer_state,
        Option::offload_accumulators, Option::offload_activations, Option::offload_weights,
        Option::batch_serial, Option::accumulators_on_ipu})
    EXPECT_TRUE(named.contains(option)) << static_cast<int>(option);
}

// A remedy names the largest micro-batch that fits: with one sample more, the plan is refused
// again.
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
    for (const Remedy& remedy : remedies_of(model, request)) {
      if (remedy.turned_on != std::vector{Option::batch}) continue;
      ++offered;
      request = follow(request, remedy);
      EXPECT_EQ(refused(), "accepted") << bytes << ": " << remedy.text;
      ++request.batch;
      EXPECT_NE(refused(), "accepted") << bytes << ": " << remedy.text;
    }
  }
  EXPECT_GE(offered, 3);
}

// The model adds a matrix to its transpose. Therefore it takes as many samples as there are
// features, or one sample.
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
