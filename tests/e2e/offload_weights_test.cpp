// 4.3 and D10 of docs/reference.md: weights in the host store come to the IPU of a stage for its
// programs, and for updates.
#include <gtest/gtest.h>

#include "apps/networks/networks.hpp"
#include "graph/values/memory.hpp"
#include "tests/e2e/offload_runs.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = offload_updates, accumulation = offload_accumulation;

Options with_weights(Options options, const Offload& offload = {.on = true}) {
  options.training.offload.weights = offload;
  return options;
}

Options on_one_ipu(Options options) {
  options.topology.ipus = {0, 0, 0, 0};
  return options;
}

/// Returns the bytes of the places of all parameters whose names begin with `block`. A place is a
/// multiple of 64 bytes.
std::int64_t placed_bytes(const std::string& block) {
  std::int64_t bytes = 0;
  const Model model = networks::find_network("mnist-cnn").build(3);
  for (const ParameterInfo& info : model.parameters())
    if (info.name.starts_with(block)) bytes += aligned(info.shape.elements() * 4);
  return bytes;
}

// An IPU has room for the weights of its largest stage, which are those of layer3.
TEST(OffloadOfWeights, LowersThePeakOfAnIpuByExactlyTheWeightsOfItsSmallerStages) {
  const TrainingRun kept = run_digits(on_one_ipu(four_stages()));
  const TrainingRun moved = run_digits(on_one_ipu(with_weights(four_stages())));
  const std::int64_t largest = placed_bytes("layer3"), all = placed_bytes("");
  EXPECT_GT(largest, 0);
  EXPECT_EQ(sum(moved, [](const StageReport& stage) { return stage.weights.bytes; }), 4 * 90'026);
  EXPECT_EQ(sum(kept, [](const StageReport& stage) { return stage.weights.bytes; }), 0);
  const std::int64_t scratch =
      // The offload of weights adds this much scratch, for the update.
      moved.stages[0].shared_bytes - largest - kept.stages[0].shared_bytes;
  EXPECT_EQ(ipu_peak(kept) - ipu_peak(moved), all - largest - scratch);
  EXPECT_EQ(scratch, 0) << "pieces of the update fit into what programs need";
  EXPECT_EQ(first_difference(kept, moved), "");
}

// The programs of each replica need the weights, and the replicas divide an update among
// themselves.
TEST(OffloadOfWeights, BringsThemOncePerUpdateToAStageThatIsAloneOnItsIpu) {
  constexpr int replicas = 2;
  Options options = with_weights(four_stages());
  options.topology.replication_factor = replicas;
  const TrainingRun moved = run_digits(options);
  for (int stage = 0; stage < 4; ++stage) {
    std::int64_t bytes = 0, loaded = 0, stored = 0;
    for (const StageReport& report : moved.stages)
      if (report.stage == stage) {
        bytes = report.weights.bytes;
        loaded += report.weights.loaded_bytes;
        stored += report.weights.stored_bytes;
      }
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(loaded, (replicas + 1) * updates * bytes) << "for programs and updates";
    EXPECT_EQ(stored, updates * bytes);
  }
}

// One micro-batch at a time goes forward through stages 0 to 3 and back. The weights of the stages
// in the middle come twice for it. Those of the last stage come once, as they are still there when
// its backward begins, and those of the first stage are still there for the next micro-batch's
// forward.
TEST(OffloadOfWeights, BringsThemAnewWhereAnotherStageTookTheRoom) {
  Options options = on_one_ipu(with_weights(four_stages()));
  options.topology.strategy = Strategy::sharded;
  const TrainingRun moved = run_digits(options);
  ASSERT_EQ(moved.stages.size(), 4u);
  const std::int64_t times[] = {accumulation + 1, 2 * accumulation, 2 * accumulation, accumulation};
  for (std::size_t i = 0; i < 4; ++i) {
    const OffloadReport& weights = moved.stages[i].weights;
    EXPECT_EQ(weights.loaded_bytes, updates * (times[i] + 1) * weights.bytes) << "stage " << i;
    EXPECT_EQ(weights.stored_bytes, updates * weights.bytes) << "stage " << i;
  }
}

TEST(OffloadOfWeights, LeavesSmallTensorsWhereTheyAre) {
  const TrainingRun kept = run_digits(four_stages());
  const Model model = networks::find_network("mnist-cnn").build(3);
  for (const std::int64_t minimum : {0, 8, 40, 41, 10'000, 1'000'000}) {
    std::int64_t large = 0;
    for (const ParameterInfo& info : model.parameters())
      if (info.shape.elements() * 4 >= minimum) large += info.shape.elements() * 4;
    const TrainingRun moved =
        run_digits(with_weights(four_stages(), {.on = true, .minimum_bytes = minimum}));
    EXPECT_EQ(sum(moved, [](const StageReport& stage) { return stage.weights.bytes; }), large)
        << minimum;
    EXPECT_EQ(first_difference(moved, kept), "") << minimum;
  }
}

// A plan counts the memory of a run to the byte. If a model is refused for lack of memory, the text
// names the class of tensors whose offload would make it fit.
TEST(OffloadOfWeights, MakesAPlanFitThatIsRefusedWithout) {
  const std::string text =
      refused_without(on_one_ipu(four_stages()), on_one_ipu(with_weights(four_stages())));
  EXPECT_NE(text.find("the weights in the host store (options.training.offload.weights), which "),
            std::string::npos)
      << text;
}

Tensor pixels(std::int64_t samples) {
  std::vector<float> values(static_cast<std::size_t>(samples) * 28 * 28);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 23) / 23;
  return Tensor(Shape({samples, 1, 28, 28}), std::span<const float>(values));
}

// Weights are written and read between calls, as a host does that fine-tunes and serves.
TEST(OffloadOfWeights, GivesInferenceTheSameBitsAndReadsAndWritesThem) {
  const auto serve = [](const Options& options) {
    Options few = options;
    few.training.gradient_accumulation = 1;
    few.device_iterations = 4;
    Model model = networks::find_network("mnist-cnn").build(3);
    InferenceModel inference(model, few);
    const std::vector<Tensor> samples{pixels(4 * offload_batch)};
    std::vector<Tensor> results{inference.run(samples).output("logits")};
    model.set_weight("layer4.bias", Tensor::zeros(DType::f32, {10}));
    results.push_back(inference.run(samples).output("logits"));
    results.push_back(model.weight("layer4.weight"));
    return results;
  };
  const auto kept = serve(four_stages());
  for (const Options& options :
       {with_weights(four_stages()), on_one_ipu(with_weights(four_stages()))}) {
    const auto moved = serve(options);
    for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(same_bits(kept[i], moved[i])) << i;
  }
  EXPECT_FALSE(same_bits(kept[0], kept[1]));
}

}  // namespace
}  // namespace penstock::testing
