// A training that goes on from a checkpoint ends with the same bits as one that was never
// interrupted, on whatever topology it goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "penstock/checkpoint.hpp"
#include "penstock/dataset.hpp"
#include "penstock/fit.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

constexpr int replicas = 2, first_steps = 5, all_steps = 12;
const std::string mean = "norm.running_mean";

Options options_on(int of_replicas = replicas) {
  Options options = options_for(2, 2, 1);
  options.topology.replication_factor = of_replicas;
  return options;
}

DataLoader loader_for(const Options& options) {
  return {tensor_dataset(samples(32, true)), options, {.shuffle = true, .seed = 4}};
}

/// A Training is a model that is trained, with its data.
struct Training {
  explicit Training(const Options& options = options_on(), const Optimizer& optimizer = AdamW{})
      : model(tied_model()), training(model, options, optimizer), data(loader_for(options)) {}

  void take(int steps) {
    for (int step = 0; step < steps; ++step) {
      std::optional<Batch> batch = data.next();
      if (!batch) data.start_epoch();
      if (!batch) batch = data.next();
      training.step(*batch);
    }
  }

  Model model;
  TrainingModel training;
  DataLoader data;
};

struct Change {
  std::string name;
  std::function<void(Options&)> make;
};

std::vector<Change> topologies() {
  return {{"the same", [](Options&) {}},
          {"one stage", [](Options& options) { options.topology.stages = parse_stages("B1,B2"); }},
          {"sharded", [](Options& options) { options.topology.strategy = Strategy::sharded; }},
          {"interleaved",
           [](Options& options) { options.topology.schedule = PipelineSchedule::interleaved; }},
          {"offloaded state",
           [](Options& options) { options.training.offload.optimizer_state.on = true; }},
          {"divided state",
           [](Options& options) {
             options.training.sharding.optimizer_state = {true, 2};
           }},
          {"recomputation", [](Options& options) { options.training.recompute = true; }},
          {"one thread", [](Options& options) { options.runtime.threads = 1; }}};
}

TEST(Checkpoint, LetsATrainingGoOnToTheSameBitsOnAnyTopology) {
  const TemporaryDirectory directory;
  const std::string path = directory / "checkpoint";
  Training whole;
  whole.take(first_steps);
  save_checkpoint(path, make_checkpoint(whole.training, whole.data));
  whole.take(all_steps - first_steps);
  const Checkpoint checkpoint = load_checkpoint(path);
  EXPECT_EQ(checkpoint.updates, first_steps);
  for (const Change& topology : topologies()) {
    Options options = options_on();
    topology.make(options);
    Training resumed(options);
    restore_checkpoint(checkpoint, resumed.training, resumed.data);
    EXPECT_EQ(resumed.training.updates(), first_steps) << topology.name;
    resumed.take(all_steps - first_steps);
    expect_same_weights(whole.model, resumed.model);
    for (int replica = 0; replica < replicas; ++replica)
      EXPECT_TRUE(
          same_bits(whole.training.buffer(mean, replica), resumed.training.buffer(mean, replica)))
          << "replica " << replica << ", " << topology.name;
    EXPECT_EQ(whole.data.position(), resumed.data.position());
  }
  EXPECT_FALSE(same_bits(whole.training.buffer(mean, 0), whole.training.buffer(mean, 1)));
}

TEST(Checkpoint, CanBeMadeOfATrainingThatWentOnFromOne) {
  Training whole, first, second;
  first.take(3);
  restore_checkpoint(make_checkpoint(first.training, first.data), second.training, second.data);
  Training third;
  restore_checkpoint(make_checkpoint(second.training, second.data), third.training, third.data);
  second.take(2);
  Training fourth;
  restore_checkpoint(make_checkpoint(second.training, second.data), fourth.training, fourth.data);
  third.take(all_steps - 3);
  fourth.take(all_steps - 5);
  whole.take(all_steps);
  expect_same_weights(whole.model, third.model);
  expect_same_weights(whole.model, fourth.model);
  for (int replica = 0; replica < replicas; ++replica)
    EXPECT_TRUE(
        same_bits(whole.training.buffer(mean, replica), fourth.training.buffer(mean, replica)));
}

TEST(Checkpoint, ChangesNothingInTheTrainingThatIsSaved) {
  Training plain, saved;
  for (int step = 0; step < all_steps; ++step) {
    saved.take(1);
    make_checkpoint(saved.training, saved.data);
  }
  plain.take(all_steps);
  expect_same_weights(plain.model, saved.model);
}

TEST(Checkpoint, HasTheOptimizerThatTheHostSetLast) {
  Training whole, resumed;
  whole.take(1);
  AdamW slower;
  slower.learning_rate = 1e-5;
  whole.training.set_optimizer(slower);
  restore_checkpoint(make_checkpoint(whole.training, whole.data), resumed.training, resumed.data);
  whole.take(2);
  resumed.take(2);
  EXPECT_EQ(resumed.training.learning_rate(), 1e-5);
  expect_same_weights(whole.model, resumed.model);
}

TEST(Checkpoint, GoesOnWithOtherReplicasBehindTheSamplesThatWereTaken) {
  Training two;
  two.take(3);  // The samples are 3 of 4 batches of 8.
  const Checkpoint checkpoint = make_checkpoint(two.training, two.data);
  ASSERT_EQ(checkpoint.replica_buffers.size(), 1U);
  for (const auto& [of_replicas, batches] : {std::pair(1, 6), std::pair(3, 2), std::pair(4, 2)}) {
    Training other(options_on(of_replicas));
    restore_checkpoint(checkpoint, other.training, other.data);
    EXPECT_EQ(other.data.position(), (LoaderPosition{0, batches})) << of_replicas;
    for (int replica = 0; replica < of_replicas; ++replica)
      EXPECT_TRUE(same_bits(two.model.weight(mean), other.training.buffer(mean, replica)));
    other.take(1);
  }
}

constexpr std::int64_t longest_sequence = 6;

/// Returns a network whose batch norm reads sequences of any length up to `longest_sequence`.
Model sequence_model() {
  Model model("sequences", 4);
  const Value x = model.input("x", {3, longest_sequence});
  model.dynamic_axis(x, 2);
  model.loss(model.identity_loss(model.square(model.batch_norm1d("norm", x))));
  return model;
}

/// Returns a loader that is never read, for a loop that makes its own batches.
DataLoader unread() {
  return {tensor_dataset({uniform({4, 3, longest_sequence}, 1)}), 4};
}

TEST(Checkpoint, LetsStepsOfEachLengthGoOnWithTheBuffersThatTheyHadMade) {
  Options options{.batch_size = 2};
  options.topology.replication_factor = replicas;
  const auto take = [](TrainingModel& training, std::int64_t step) {
    // Steps of one length follow each other, and steps of another.
    const std::int64_t length = step / 2 % 2 == 0 ? 4 : step / 4 % 2 == 0 ? longest_sequence : 3;
    training.step({uniform({4, 3, length}, static_cast<std::uint64_t>(step))});
  };
  constexpr std::int64_t most = 8;
  const Model whole_model = sequence_model();
  TrainingModel whole(whole_model, options, Sgd{.learning_rate = 0.1});
  for (std::int64_t step = 0; step < most; ++step) take(whole, step);
  for (std::int64_t cut = 1; cut < most; ++cut) {
    SCOPED_TRACE(cut);
    const Model first_model = sequence_model(), second_model = sequence_model();
    TrainingModel first(first_model, options, Sgd{.learning_rate = 0.1});
    TrainingModel second(second_model, options, Sgd{.learning_rate = 0.1});
    for (std::int64_t step = 0; step < cut; ++step) take(first, step);
    DataLoader before = unread(), after = unread();
    const TemporaryDirectory directory;
    save_checkpoint(directory / "checkpoint", make_checkpoint(first, before));
    restore_checkpoint(load_checkpoint(directory / "checkpoint"), second, after);
    EXPECT_TRUE(same_bits(second.buffer(mean, 1), first.buffer(mean, 1)));
    for (std::int64_t step = cut; step < most; ++step) take(second, step);
    expect_same_weights(whole_model, second_model);
    for (int replica = 0; replica < replicas; ++replica)
      EXPECT_TRUE(same_bits(whole.buffer(mean, replica), second.buffer(mean, replica))) << replica;
  }
}

TEST(Checkpoint, BeforeTheFirstBatchLeavesOutTheSameEpochsOfTheData) {
  for (const bool begun : {false, true}) {
    Training saved, resumed;
    if (begun) saved.data.start_epoch();
    restore_checkpoint(make_checkpoint(saved.training, saved.data), resumed.training, resumed.data);
    fit(saved.training, saved.data, {.epochs = 1});
    fit(resumed.training, resumed.data, {.epochs = 1});
    EXPECT_EQ(resumed.data.position(), saved.data.position());
    expect_same_weights(saved.model, resumed.model);
  }
}

std::string refused(const Checkpoint& checkpoint, Training& training,
                    Errc code = Errc::invalid_argument) {
  const std::string text =
      refusal(code, [&] { restore_checkpoint(checkpoint, training.training, training.data); });
  EXPECT_EQ(training.training.updates(), 0U);
  expect_same_weights(training.model, tied_model());
  EXPECT_EQ(training.data.position(), LoaderPosition());
  return text;
}

TEST(Checkpoint, IsRefusedByATrainingWhoseBitsWouldDiffer) {
  Training saved;
  saved.take(1);
  const Checkpoint checkpoint = make_checkpoint(saved.training, saved.data);
  const std::vector<std::pair<Change, std::string>> cases{
      {{"batch_size", [](Options& options) { options.batch_size = 4; }},
       "expected 2, as the training has that was saved, got 4"},
      {{"seed", [](Options& options) { options.seed = 1; }},
       "expected 11, as the training has that was saved, got 1"},
      {{"training.gradient_accumulation",
        [](Options& options) { options.training.gradient_accumulation = 4; }},
       "expected 2, as the training has that was saved, got 4"},
      {{"training.reduction",
        [](Options& options) { options.training.reduction = Reduction::sum; }},
       "expected mean, as the training has that was saved, got sum"},
      {{"training.reduction_strategy",
        [](Options& options) { options.training.reduction_strategy = ReductionStrategy::running; }},
       "expected post, as the training has that was saved, got running"}};
  for (const auto& [change, text] : cases) {
    Options options = options_on();
    change.make(options);
    Training other(options);
    EXPECT_EQ(refused(checkpoint, other), "checkpoint: options." + change.name + ": " + text);
  }
  Training other_rule(options_on(), Sgd{});
  EXPECT_NE(refused(checkpoint, other_rule).find("adamw"), std::string::npos);
}

TEST(Checkpoint, IsRefusedByAnotherModel) {
  Training saved, other;
  saved.take(1);
  Checkpoint checkpoint = make_checkpoint(saved.training, saved.data);
  Checkpoint without = checkpoint, reshaped = checkpoint, with_more = checkpoint;
  without.weights.erase(without.weights.begin());
  EXPECT_EQ(refused(without, other, Errc::shape_mismatch),
            "checkpoint: parameter \"" + checkpoint.weights[0].name + "\": expected f32 " +
                to_string(checkpoint.weights[0].tensor.shape()) + ", found none");
  reshaped.weights[0].tensor = Tensor({1}, std::span<const float>(std::vector<float>{1}));
  EXPECT_NE(refused(reshaped, other, Errc::shape_mismatch).find("got f32 [1]"), std::string::npos);
  with_more.weights.push_back({"more", with_more.weights[0].tensor});
  EXPECT_EQ(refused(with_more, other, Errc::shape_mismatch),
            "checkpoint: parameter \"more\" is none of the model's");
  Checkpoint strange = checkpoint;
  strange.replica_buffers[0].pop_back();
  EXPECT_EQ(refused(strange, other, Errc::shape_mismatch),
            "buffer \"norm.running_var\" of a replica: is missing");
  strange = checkpoint;
  strange.replica_buffers[0][0].tensor = Tensor::zeros(DType::f32, {3});
  EXPECT_EQ(refused(strange, other, Errc::shape_mismatch),
            "buffer \"norm.running_mean\" of a replica: expected f32[4], got f32[3]");
  strange = checkpoint;
  strange.replica_buffers_length = 5;
  EXPECT_EQ(refused(strange, other),
            "buffers of replicas: expected those of a step of length 0 to 0, got length 5");
  checkpoint.optimizer_state.pop_back();
  EXPECT_NE(refused(checkpoint, other, Errc::shape_mismatch), "accepted");
}

TEST(Checkpoint, ChangesNoOptimizerIfItsStateIsRefused) {
  Training saved(options_on(), AdamW{.learning_rate = 0.5}), other;
  saved.take(1);
  Checkpoint checkpoint = make_checkpoint(saved.training, saved.data);
  const std::int64_t negative = -1;
  checkpoint.optimizer_state[0].tensor = Tensor({}, std::span(&negative, 1));
  const double before = other.training.learning_rate();
  EXPECT_NE(refused(checkpoint, other, Errc::invalid_data), "accepted");
  EXPECT_EQ(other.training.learning_rate(), before);
  // The loader refuses an epoch that it has begun, before the model changes.
  Training begun;
  begun.data.start_epoch();
  checkpoint = make_checkpoint(saved.training, saved.data);
  EXPECT_NE(refusal(Errc::invalid_argument,
                    [&] { restore_checkpoint(checkpoint, begun.training, begun.data); }),
            "accepted");
  EXPECT_EQ(begun.training.learning_rate(), before);
  expect_same_weights(begun.model, tied_model());
}

TEST(Checkpoint, KeepsTheBitsOfATrainingThatHasDiverged) {
  const TemporaryDirectory directory;
  const auto diverging = [] {
    return Training(options_on(), Sgd{.learning_rate = 1e30, .momentum = 0.9});
  };
  Training whole = diverging(), resumed = diverging();
  whole.take(4);
  const auto has_nan = [](const NamedTensor& named) {
    return named.tensor.dtype() == DType::f32 &&
           std::ranges::any_of(named.tensor.as<float>(), [](float x) { return !std::isfinite(x); });
  };
  const Checkpoint checkpoint = make_checkpoint(whole.training, whole.data);
  ASSERT_TRUE(std::ranges::any_of(checkpoint.optimizer_state, has_nan));
  ASSERT_TRUE(std::ranges::any_of(checkpoint.weights, has_nan));
  save_checkpoint(directory / "checkpoint", checkpoint);
  restore_checkpoint(load_checkpoint(directory / "checkpoint"), resumed.training, resumed.data);
  expect_same_weights(whole.model, resumed.model);
  whole.take(2);
  resumed.take(2);
  expect_same_weights(whole.model, resumed.model);
}

}  // namespace
}  // namespace penstock::testing
