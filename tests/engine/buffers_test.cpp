// 2.6 and 4.1 of docs/reference.md: every replica has buffers of its own, and a host can read them.
#include <gtest/gtest.h>

#include "penstock/penstock.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

constexpr int batch = 3, accumulation = 4, replicas = 3;
const std::string mean = "norm.running_mean", variance = "norm.running_var";

Model network() {
  Model model("statistics", 2);
  const Value images = model.input("image", {2, 4, 4});
  const Value labels = model.labels();
  Value x;
  {
    const auto block = model.block("B1");
    x = model.batch_norm2d("norm", images);
  }
  const auto block = model.block("B2");
  model.loss(model.cross_entropy(model.linear("fc", model.flatten(x), 5), labels));
  return model;
}

Options options_for(int of_replicas) {
  Options options{.batch_size = batch, .device_iterations = 2};
  options.training.gradient_accumulation = accumulation;
  options.topology.replication_factor = of_replicas;
  return options;
}

/// Returns the inputs of one update of all replicas.
std::vector<Tensor> window() {
  constexpr std::int64_t rows = batch * accumulation * replicas;
  return {uniform({rows, 2, 4, 4}, 1), labels({rows}, 2, 5)};
}

/// Returns what replica `replica` gets of `tensor`: every `replicas`-th micro-batch, beginning with
/// number `replica`.
template <class T>
Tensor share_of(int replica, const Tensor& tensor) {
  std::vector<T> elements;
  for (int m = 0; m < accumulation; ++m) {
    const std::int64_t first = (m * replicas + replica) * batch;
    const Tensor rows = tensor.rows(first, first + batch);
    elements.insert(elements.end(), rows.as<T>().begin(), rows.as<T>().end());
  }
  return {tensor.shape().with(0, batch * accumulation), std::span<const T>(elements)};
}

// In the first window all replicas have the same weights. So a model that sees the samples of one
// replica only has the statistics of that replica.
TEST(Buffers, AreWhatAReplicasOwnMicroBatchesMakeOfThem) {
  const Model model = network();
  TrainingModel training(model, options_for(replicas), Sgd{});
  const std::vector<Tensor> samples = window();
  training.step(samples);
  for (int replica = 0; replica < replicas; ++replica) {
    const Model alone = network();
    TrainingModel single(alone, options_for(1), Sgd{});
    single.step(
        {share_of<float>(replica, samples[0]), share_of<std::int64_t>(replica, samples[1])});
    for (const std::string& name : {mean, variance})
      EXPECT_TRUE(same_bits(training.buffer(name, replica), alone.weight(name)))
          << name << " of replica " << replica;
  }
  EXPECT_FALSE(same_bits(training.buffer(mean, 0), training.buffer(mean, 1)));
  EXPECT_TRUE(same_bits(training.buffer(mean, 0), model.weight(mean)));
}

TEST(Buffers, ThatTheHostHasSetAreEveryReplicas) {
  Model model = network();
  TrainingModel training(model, options_for(replicas), Sgd{});
  training.step(window());
  const Tensor new_mean = Tensor({2}, std::span<const float>(std::vector<float>{0.5f, -2.0f}));
  model.set_weight(mean, new_mean);
  for (int replica = 0; replica < replicas; ++replica)
    EXPECT_TRUE(same_bits(training.buffer(mean, replica), new_mean)) << replica;
}

TEST(Buffers, ThatAreNotThereAreRefusedByName) {
  const Model model = network();
  const TrainingModel training(model, options_for(replicas), Sgd{});
  const auto refused = [&](const std::string& name, int replica) {
    return refusal(Errc::invalid_argument, [&] { training.buffer(name, replica); });
  };
  EXPECT_EQ(refused("norm", 0),
            "there is no buffer named \"norm\"; did you mean \"norm.running_mean\"?");
  EXPECT_EQ(
      refused("fc.bias", 0),
      "buffer \"fc.bias\": is a parameter, the same in every replica; Model::weight reads it");
  EXPECT_EQ(refused(mean, replicas), "replica: expected 0 to 2, got 3");
  EXPECT_EQ(refused(mean, -1), "replica: expected 0 to 2, got -1");
  EXPECT_EQ(refused(mean, 2), "accepted");
}

}  // namespace
}  // namespace penstock::testing
