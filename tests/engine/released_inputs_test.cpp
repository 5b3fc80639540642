// These tests check on which thread the tensors that a host gives to a call are deleted.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "graph/values/memory.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/engine/unchecked_indices.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

/// A Deletions counts the tensors that it hands out, and how many of them are deleted on the host's
/// thread and elsewhere.
class Deletions {
 public:
  /// Returns tensors with the same numbers, in memory whose deletion is counted. If `misaligned` is
  /// true, the tensors begin at addresses from which kernels may not read.
  std::vector<Tensor> watched(const std::vector<Tensor>& tensors, bool misaligned) {
    std::vector<Tensor> result;
    for (const Tensor& tensor : tensors) {
      const std::size_t offset = misaligned ? 8 : 0;
      const auto block = allocate_block(tensor.bytes() + offset);
      std::copy_n(tensor.raw(), tensor.bytes(), block.get() + offset);
      std::shared_ptr<const std::byte> elements(block.get() + offset, [this, block](auto*) {
        ++(std::this_thread::get_id() == host_ ? on_host_ : elsewhere_);
      });
      result.push_back(Tensor::wrap(tensor.dtype(), tensor.shape(), std::move(elements)));
      ++made_;
    }
    return result;
  }
  void expect_all_on_the_host() const {
    EXPECT_EQ(on_host_, made_);
    EXPECT_EQ(elsewhere_, 0);
  }

 private:
  const std::thread::id host_ = std::this_thread::get_id();
  std::atomic<int> made_{0}, on_host_{0}, elsewhere_{0};
};

std::vector<Options> topologies() {
  Options one = options_for(2, 2, 2);
  Options replicas = one;
  replicas.topology.replication_factor = 2;
  Options phased = one;
  phased.topology.strategy = Strategy::serial_phased;
  Options sharded = one;
  sharded.topology.strategy = Strategy::sharded;
  return {one, replicas, phased, sharded};
}

TEST(ReleasedInputs, AreDeletedOnTheHostsThreadInEveryTopology) {
  for (const Options& options : topologies())
    for (const bool misaligned : {false, true}) {
      Deletions deletions;
      {
        const Model model = plain_model();
        TrainingModel training(model, options);
        for (int step = 0; step < 5; ++step)
          training.step(deletions.watched(samples(options.samples_per_step(), false), misaligned));
        // A shorter step runs by a plan of its own.
        training.step(deletions.watched(samples(3, false), misaligned));
        Options serve = options;
        serve.training.gradient_accumulation = 1;
        InferenceModel serving(model, serve);
        for (int run = 0; run < 5; ++run)
          serving.run(
              deletions.watched({samples(serving.samples_per_run(), false)[0]}, misaligned));
      }
      deletions.expect_all_on_the_host();
    }
}

TEST(ReleasedInputs, AreDeletedOnTheHostsThreadAfterAFailure) {
  for (const bool misaligned : {false, true}) {
    Deletions deletions;
    {
      const Options options = options_for(2, 2, 4);
      TrainingModel training(without_checked_indices(plain_model()), options);
      auto inputs = samples(options.samples_per_step(), false);
      std::vector<std::int64_t> labels(static_cast<std::size_t>(options.samples_per_step()), 1);
      labels[5] = 99;
      inputs[1] = Tensor({options.samples_per_step()}, labels);
      EXPECT_NE(refusal(Errc::stage_failed,
                        [&] { training.step(deletions.watched(inputs, misaligned)); }),
                "accepted");
    }
    deletions.expect_all_on_the_host();
  }
}

// Otherwise the host's deleter would run inside of a later call.
TEST(ReleasedInputs, AreNotKeptAsWeightsOrAsTheStateOfAnOptimizer) {
  const Model model = plain_model();
  TrainingModel training(model, options_for(2, 2, 1), AdamW{});
  training.step(samples(4, false));
  Deletions deletions;
  const Tensor bias = model.weight("fc2.bias");
  Model(model).set_weight("fc2.bias", deletions.watched({bias}, false)[0]);
  deletions.expect_all_on_the_host();
  EXPECT_TRUE(same_bits(model.weight("fc2.bias"), bias));

  const std::vector<NamedTensor> state = training.optimizer_state();
  std::vector<Tensor> tensors;
  for (const NamedTensor& named : state) tensors.push_back(named.tensor);
  std::vector<Tensor> watched = deletions.watched(tensors, false);
  std::vector<NamedTensor> given = state;
  for (std::size_t i = 0; i < given.size(); ++i) given[i].tensor = std::move(watched[i]);
  for (const bool attached : {true, false}) {
    if (!attached) training.detach();
    training.set_optimizer_state(given);
  }
  watched.clear();
  given.clear();
  deletions.expect_all_on_the_host();
  training.step(samples(4, false));
}

TEST(ReleasedInputs, AreDeletedOnTheHostsThreadAfterACancelledCall) {
  Deletions deletions;
  {
    const Options options = options_for(2, 2, 4);
    TrainingModel training(plain_model(), options);
    std::stop_source stop;
    stop.request_stop();
    for (int step = 0; step < 3; ++step)
      EXPECT_NE(refusal(Errc::cancelled,
                        [&] {
                          training.step(
                              deletions.watched(samples(options.samples_per_step(), false), true),
                              stop.get_token());
                        }),
                "accepted");
  }
  deletions.expect_all_on_the_host();
}

TEST(ReleasedInputs, AreDeletedOnTheHostsThreadWhenTheModelIsDetached) {
  Deletions deletions;
  const Options options = options_for(2, 2, 2);
  TrainingModel training(plain_model(), options);
  training.step(deletions.watched(samples(options.samples_per_step(), false), false));
  training.detach();
  deletions.expect_all_on_the_host();
}

}  // namespace
}  // namespace penstock::testing
