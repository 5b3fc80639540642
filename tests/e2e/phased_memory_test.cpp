// 3.7, 3.8 and 4.3 of docs/reference.md: phases that have turns on one IPU train a model that is
// larger than the IPU.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/refusal.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = 2, width = 128, blocks = 12, classes = 10;
constexpr int batch = 2, accumulation = 4;

/// Returns a model with blocks of one layer each. All layers but the last have the same size.
Model tower() {
  Model model("tower", 3);
  Value x = model.input("x", {width});
  const Value labels = model.labels();
  for (std::int64_t i = 0; i < blocks; ++i) {
    const auto block = model.block("B" + std::to_string(i));
    const std::string name = "layer" + std::to_string(i);
    x = i + 1 < blocks ? model.relu(model.linear(name, x, width)) : model.linear(name, x, classes);
    if (i + 1 == blocks) model.loss(model.cross_entropy(x, labels));
  }
  return model;
}

std::vector<Tensor> samples() {
  const std::int64_t rows = batch * accumulation * updates;
  std::vector<float> x;
  for (std::int64_t i = 0; i < rows * width; ++i)
    x.push_back(std::sin(static_cast<float>(i * i % 9'973)));
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < rows; ++i) labels.push_back(i * i % classes);
  return {{{rows, width}, std::span<const float>(x)},
          {{rows}, std::span<const std::int64_t>(labels)}};
}

TrainingRun run(const Options& options) {
  return train(tower(), options, AdamW{.learning_rate = 0.01}, samples(), updates);
}

Options on_one_ipu() {
  Options options{.batch_size = batch};
  options.training.gradient_accumulation = accumulation;
  options.topology.threads_per_ipu = 1;  // With one thread, scratch is the same on every machine.
  options.topology.ipus = std::vector<int>(blocks, 0);
  return options;
}

Options in_phases() {
  Options options = on_one_ipu();
  options.topology.strategy = Strategy::serial_phased;
  options.topology.phased.batch_serial = true;
  return options;
}

Options in_one_stage() {
  Options options = on_one_ipu();
  options.topology.ipus = {0};
  options.topology.stages = {Stage{}};
  for (std::int64_t i = 0; i < blocks; ++i)
    options.topology.stages[0].blocks.push_back("B" + std::to_string(i));
  OffloadOptions& offload = options.training.offload;
  offload.optimizer_state.on = offload.accumulators.on = true;
  offload.activations.on = offload.weights.on = true;
  return options;
}

/// Returns the bytes that each stage takes of its IPU, without the memory that stages share.
std::vector<std::int64_t> own_bytes(const TrainingRun& run) {
  std::vector<std::int64_t> bytes;
  for (const StageReport& stage : run.stages)
    bytes.push_back(stage.peak_bytes - stage.shared_bytes);
  return bytes;
}

std::int64_t high_water_mark(const TrainingRun& run) {
  const auto bytes_of_stages = own_bytes(run);
  return std::accumulate(bytes_of_stages.begin(), bytes_of_stages.end(),
                         run.stages.front().shared_bytes);
}

std::int64_t parameter_bytes(const TrainingRun& run) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : run.weights) bytes += static_cast<std::int64_t>(tensor.bytes());
  return bytes;
}

// The weights alone are more than twice as large as the IPU, and gradient sums and moments take
// three times as much again. Without phases, all four classes in the host store are not enough,
// because the room for weights is as large as the largest stage.
TEST(Phases, R3_7_TrainOnOneIpuWhatIsLargerThanIt) {
  const TrainingRun unlimited = run(on_one_ipu());
  Options phased = in_phases();
  const std::int64_t budget = high_water_mark(run(phased));
  EXPECT_GT(parameter_bytes(unlimited), 2 * budget);
  EXPECT_GT(high_water_mark(unlimited), 8 * budget);

  phased.topology.ipu_memory_bytes = budget;
  const TrainingRun fits = run(phased);
  EXPECT_EQ(high_water_mark(fits), budget);
  EXPECT_EQ(first_difference(fits, unlimited), "");
  for (Options options : {on_one_ipu(), in_one_stage()}) {
    options.topology.ipu_memory_bytes = budget;
    const std::string text = refusal(Errc::out_of_memory, [&] { run(options); });
    EXPECT_NE(text.find(" on IPU 0 need"), text.npos) << text;
  }
  --phased.topology.ipu_memory_bytes;
  const std::string text = refusal(Errc::out_of_memory, [&] { run(phased); });
  EXPECT_NE(text.find("a turn for each micro-batch (not options.topology.phased.batch_serial)"),
            text.npos)
      << text;
}

// Between the turns of a phase, only results that others have not taken yet stay on the IPU: all
// gradients of a turn, for the phase before, and losses, for the host.
TEST(Phases, R3_7_LeaveNothingOnTheIpuBetweenTheirTurnsButWhatWaitsForOthers) {
  const std::int64_t gradients = accumulation * batch * width * std::int64_t{sizeof(float)};
  const std::int64_t losses = (accumulation + 2) * std::int64_t{64};
  std::vector<std::int64_t> expected(blocks, gradients);
  expected.front() = 0;
  expected.back() += losses;
  EXPECT_EQ(own_bytes(run(in_phases())), expected);
}

// A phase computes with its weights in one room, while the weights of the next phase come to the
// other room.
TEST(Phases, R3_7_HaveTwoRoomsForWeightsUnlessCopiesMayNotOverlapPrograms) {
  const std::int64_t largest = (width * width + width) * std::int64_t{sizeof(float)};
  Options options = in_phases();
  const auto shared = [&](PhaseLiveness liveness) {
    options.topology.phased.liveness = liveness;
    return run(options).stages.front().shared_bytes;
  };
  const std::int64_t two = shared(PhaseLiveness::always_live);
  EXPECT_EQ(shared(PhaseLiveness::off_ipu_after_forward), two);
  EXPECT_EQ(shared(PhaseLiveness::off_ipu_after_forward_no_overlap), two - largest);
  EXPECT_EQ(shared(PhaseLiveness::off_ipu_after_each_phase), two - largest);
}

}  // namespace
}  // namespace penstock::testing
