// These tests check what a host sees of a model that fails in the middle of training.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/held_kernel.hpp"
#include "tests/engine/unchecked_indices.hpp"
#include "tests/support/latch.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/thread_limit.hpp"

namespace penstock {
namespace {

using testing::refusal;
using testing::same_bits;

constexpr int batch = 2, accumulation = 2, updates = 3;
constexpr std::int64_t samples = batch * accumulation * updates;

/// Returns a model of two stages. The first one has a tanh, which a test can hold, or otherwise a
/// relu.
Model classifier(bool tanh = false) {
  Model model("classifier");
  Value x = model.input("x", {6});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.linear("fc1", x, 8);
    x = tanh ? model.tanh(x) : model.relu(x);
  }
  const auto block = model.block("B2");
  x = model.log_softmax(model.linear("fc2", x, 4));
  model.output("log_probabilities", x);
  model.loss(model.nll_loss(x, labels));
  return testing::without_checked_indices(std::move(model));
}

Options options() {
  Options options{.batch_size = batch, .device_iterations = updates};
  options.training.gradient_accumulation = accumulation;
  options.runtime.threads = 2;
  return options;
}

std::vector<Tensor> inputs(std::int64_t rows) {
  return {testing::uniform({samples, 6}, 1).rows(0, rows),
          testing::labels({samples}, 2, 4).rows(0, rows)};
}

/// Returns the samples with a label at `row` that does not exist.
std::vector<Tensor> inputs_with_label_12_at(std::size_t row) {
  auto tensors = inputs(samples);
  const auto labels = tensors[1].as<std::int64_t>();
  std::vector<std::int64_t> spoilt(labels.begin(), labels.end());
  spoilt[row] = 12;
  tensors[1] = Tensor({samples}, std::span<const std::int64_t>(spoilt));
  return tensors;
}

TEST(TrainingFailure, NamesStageMicroBatchOpAndSample) {
  const Model model = classifier();
  TrainingModel training(model, options(), Sgd{.learning_rate = 0.1});
  const auto text = refusal(Errc::stage_failed, [&] { training.step(inputs_with_label_12_at(7)); });
  EXPECT_EQ(text.find("stage 1 (replica 0, IPU 1), forward of micro-batch 3: nll_loss \""), 0u)
      << text;
  EXPECT_NE(text.find("label 12 at sample 1: expected 0 to 3"), std::string::npos) << text;
  EXPECT_NE(text.find("; the step has done 1 of 3 updates"), std::string::npos) << text;
}

TEST(TrainingFailure, LeavesTheWeightsOfTheLastUpdateToTheModelAndCountsThem) {
  for (const std::int64_t done : {0, 1, 2}) {
    const Model broken = classifier(), shorter = classifier();
    {
      TrainingModel training(broken, options(), Sgd{.learning_rate = 0.1});
      const auto bad = static_cast<std::size_t>(done * batch * accumulation + 1);
      EXPECT_NE(refusal(Errc::stage_failed, [&] { training.step(inputs_with_label_12_at(bad)); }),
                "accepted");
      EXPECT_EQ(training.updates(), static_cast<std::uint64_t>(done));
    }
    TrainingModel training(shorter, options(), Sgd{.learning_rate = 0.1});
    if (done > 0) training.step(inputs(done * batch * accumulation));
    for (const ParameterInfo& parameter : broken.parameters())
      EXPECT_TRUE(same_bits(broken.weight(parameter.name), shorter.weight(parameter.name)))
          << parameter.name << " after " << done << " updates";
  }
}

// Stage 1 fails at micro-batch 0 while stage 0 is in the middle of micro-batch 1. Stage 0 then
// takes longer than a call may stand still, and far less time than an IPU may be in the middle of a
// piece of work.
TEST(TrainingFailure, LosesNoWeightsIfTheModelEndsWhileAnIpuIsSlow) {
  constexpr double stall_seconds = 0.3;
  Options impatient = options();
  impatient.runtime.stall_seconds = stall_seconds;
  const Model model = classifier(true);
  const Tensor before = model.weight("fc2.weight");
  const testing::HeldKernel kernel(model, "tanh", 1);
  std::thread slow;
  {
    TrainingModel training(model, impatient, Sgd{.learning_rate = 0.1});
    EXPECT_NE(refusal(Errc::stage_failed, [&] { training.step(inputs_with_label_12_at(0)); }),
              "accepted");
    ASSERT_TRUE(kernel.await());
    slow = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(3 * stall_seconds));
      kernel.let_go();
    });
  }
  slow.join();
  EXPECT_TRUE(same_bits(model.weight("fc2.weight"), before));
}

/// Makes a step on all samples, and then a step on `rows` samples that stalls in run number `run`
/// of the first stage's tanh. The model ends while the tanh still runs, for much longer than an IPU
/// may be in the middle of a piece of work. Expects that the weights of `done` updates are kept.
void expect_to_keep_weights_of(int done, std::int64_t rows, int run) {
  constexpr double stall_seconds = 0.2;
  Options impatient = options();
  impatient.runtime.stall_seconds = stall_seconds;
  impatient.recovery.attempts = 0;
  const Sgd rule{.learning_rate = 0.1};
  const Model model = classifier(true), undisturbed = classifier(true);
  const testing::HeldKernel kernel(model, "tanh", run);
  const testing::Latch ending;
  std::thread slow([&] {
    EXPECT_TRUE(kernel.await());
    EXPECT_TRUE(ending.wait());
    std::this_thread::sleep_for(std::chrono::duration<double>(5 * stall_seconds));
    kernel.let_go();
  });
  {
    TrainingModel training(model, impatient, rule);
    training.step(inputs(samples));
    EXPECT_NE(refusal(Errc::stalled, [&] { training.step(inputs(rows)); }), "accepted");
    EXPECT_EQ(training.updates(), static_cast<std::uint64_t>(done));
    ending.open();
  }
  slow.join();
  TrainingModel whole(undisturbed, options(), rule);
  whole.step(inputs(samples));
  if (done > updates) whole.step(inputs((done - updates) * batch * accumulation));
  for (const ParameterInfo& parameter : model.parameters())
    EXPECT_TRUE(same_bits(model.weight(parameter.name), undisturbed.weight(parameter.name)))
        << parameter.name;
}

TEST(TrainingFailure, LosesNoWeightsIfTheModelEndsWhileAnIpuIsBusyForLongerThanItMayBe) {
  constexpr int runs_of_a_step = updates * accumulation;
  expect_to_keep_weights_of(updates + 2, samples, runs_of_a_step + 2 * accumulation);
  // A short step has a plan of its own, which ends before the plan of whole steps.
  expect_to_keep_weights_of(updates, batch * accumulation - 1, runs_of_a_step + 1);
}

// 3.7 of docs/reference.md: all tensors are in the host store when one of two phases fails, and
// other trainings are not affected.
TEST(TrainingFailure, InPhasesLeavesTheWeightsOfTheLastUpdateAndOtherTrainingsAlone) {
  Options phased = options();
  phased.topology.strategy = Strategy::serial_phased;
  phased.topology.phased.batch_serial = true;
  const AdamW rule{.learning_rate = 0.1};
  const Model broken = classifier(), shorter = classifier(), other = classifier();
  TrainingModel beside(other, phased, rule);
  beside.step(inputs(batch * accumulation));
  TrainingModel(shorter, phased, rule).step(inputs(batch * accumulation));
  {
    TrainingModel training(broken, phased, rule);
    const auto text =
        refusal(Errc::stage_failed, [&] { training.step(inputs_with_label_12_at(5)); });
    EXPECT_EQ(text.find("stage 1 (replica 0, IPU 0), forward of micro-batch 2: nll_loss \""), 0u)
        << text;
    EXPECT_EQ(training.updates(), 1u);
  }
  EXPECT_EQ(beside.updates(), 1u);
  for (const ParameterInfo& parameter : broken.parameters())
    for (const Model* model : {&shorter, &other})
      EXPECT_TRUE(same_bits(broken.weight(parameter.name), model->weight(parameter.name)))
          << parameter.name;
  beside.step(inputs(samples));
  EXPECT_EQ(beside.updates(), 1u + updates);
}

TEST(TrainingFailure, LeavesTheTraceToReadOnce) {
  const Model model = classifier();
  Options traced = options();
  traced.runtime.trace = true;
  TrainingModel training(model, traced, Sgd{.learning_rate = 0.1});
  training.step(inputs(samples));
  // Each of two stages has a forward and a backward for every micro-batch, and an event for every
  // update.
  EXPECT_EQ(training.take_trace().size(), 2u * updates * (2 * accumulation + 1));
  EXPECT_TRUE(training.take_trace().empty());
  EXPECT_NE(refusal(Errc::stage_failed, [&] { training.step(inputs_with_label_12_at(7)); }),
            "accepted");
  const auto events = training.take_trace();
  EXPECT_GE(events.size(), 2u * (2 * accumulation + 1));
  EXPECT_TRUE(std::ranges::is_sorted(events, {}, &TraceEvent::begin_ns));
  EXPECT_TRUE(training.take_trace().empty());
  EXPECT_EQ(training.stage_reports().size(), 2u);
}

// The shorter last micro-batch has a plan, and a supervisor, of its own.
TEST(InferenceFailure, ForWantOfAThreadLeavesWholeMicroBatches) {
  const Model model = classifier();
  InferenceModel inference(model, {.batch_size = batch, .device_iterations = 2});
  const std::vector whole{inputs(batch)[0]}, ragged{inputs(batch + 1)[0]};
  {
    const testing::ThreadLimit limit(0);
    EXPECT_EQ(refusal(Errc::out_of_memory, [&] { inference.run(ragged); }),
              "run of " + std::to_string(batch + 1) +
                  " samples, of which 1 fill no micro-batch for "
                  "every replica (" +
                  std::to_string(batch) + "): cannot start another thread: the system allows 0");
    inference.run(whole);
  }
  EXPECT_EQ(inference.run(ragged).output("log_probabilities").shape(), (Shape{batch + 1, 4}));
}

// Stage 1 fails at micro-batch 0 while stage 0 is in the middle of micro-batch 1, and stays there.
TEST(TrainingFailure, OfOneIpuWaitsUntilTheOthersAreDone) {
  Options impatient = options();
  impatient.runtime.stall_seconds = 0.3;
  const Model model = classifier(true), undisturbed = classifier(true);
  const testing::HeldKernel kernel(model, "tanh", 1);
  TrainingModel training(model, impatient, Sgd{.learning_rate = 0.1});
  EXPECT_NE(refusal(Errc::stage_failed, [&] { training.step(inputs_with_label_12_at(0)); }),
            "accepted");
  ASSERT_TRUE(kernel.await());
  const auto refused = [&] {
    return refusal(Errc::stalled, [&] { training.step(inputs(samples)); });
  };
  const auto is_busy = [](const std::string& text) {
    return text.find("an IPU is still busy") != std::string::npos;
  };
  EXPECT_TRUE(is_busy(refused()));
  kernel.let_go();
  std::string text;
  for (int tries = 0; tries < 100; ++tries)
    if (text = refused(); !is_busy(text)) break;
  EXPECT_EQ(text, "accepted");
  TrainingModel whole(undisturbed, options(), Sgd{.learning_rate = 0.1});
  whole.step(inputs(samples));
  for (const ParameterInfo& parameter : model.parameters())
    EXPECT_TRUE(same_bits(model.weight(parameter.name), undisturbed.weight(parameter.name)));
}

TEST(TrainingFailure, ByAStallEndsOneCall) {
  Options impatient = options();
  impatient.runtime.stall_seconds = 0.2;
  impatient.recovery.attempts = 0;
  const Model model = classifier(true), undisturbed = classifier(true);
  const testing::HeldKernel kernel(model, "tanh", accumulation + 1);
  TrainingModel training(model, impatient, Sgd{.learning_rate = 0.1});
  EXPECT_NE(refusal(Errc::stalled, [&] { training.step(inputs(samples)); }), "accepted");
  EXPECT_EQ(training.updates(), 1U);
  const std::string busy = "what the stages hold cannot be read: an IPU is still busy";
  EXPECT_EQ(refusal(Errc::stalled, [&] { training.step(inputs(samples)); }), busy);
  EXPECT_EQ(refusal(Errc::stalled, [&] { training.optimizer_state(); }), busy);
  EXPECT_EQ(refusal(Errc::stalled, [&] { training.detach(); }), busy);
  kernel.let_go();
  while (refusal(Errc::stalled, [&] { training.attach(); }) == busy) std::this_thread::yield();
  TrainingModel whole(undisturbed, options(), Sgd{.learning_rate = 0.1});
  whole.step(inputs(batch * accumulation));
  for (TrainingModel* const one : {&training, &whole}) one->step(inputs(samples));
  for (const ParameterInfo& parameter : model.parameters())
    EXPECT_TRUE(same_bits(model.weight(parameter.name), undisturbed.weight(parameter.name)));
}

TEST(TrainingFailure, R2_6_LeavesTheModelToATrainingThatGoesOnFromTheLastUpdate) {
  constexpr std::int64_t update = batch * accumulation;
  const Model model = classifier(), uninterrupted = classifier();
  const Sgd rule{.learning_rate = 0.1};
  TrainingModel broken(model, options(), rule);
  EXPECT_NE(refusal(Errc::stage_failed, [&] { broken.step(inputs_with_label_12_at(update + 1)); }),
            "accepted");
  TrainingModel next(model, options(), rule), whole(uninterrupted, options(), rule);
  const auto all = inputs(samples);
  next.step({all[0].rows(update, samples), all[1].rows(update, samples)});
  whole.step(all);
  for (const ParameterInfo& parameter : model.parameters())
    EXPECT_TRUE(same_bits(model.weight(parameter.name), uninterrupted.weight(parameter.name)));
  InferenceModel inference(model, {.batch_size = batch});
  EXPECT_EQ(inference.run(std::vector{all[0].rows(0, batch)}).output("log_probabilities").shape(),
            (Shape{batch, 4}));
  for (TrainingModel* const one : {&broken, &next}) {
    one->step(all);
    whole.step(all);
    for (const ParameterInfo& parameter : model.parameters())
      EXPECT_TRUE(same_bits(model.weight(parameter.name), uninterrupted.weight(parameter.name)));
  }
}

}  // namespace
}  // namespace penstock
