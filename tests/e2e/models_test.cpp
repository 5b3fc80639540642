// These tests check training and inference models as a host uses them: weights shared between
// objects, calls of every size, optimizers changed between steps, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

/// Returns a model of four blocks with a skip connection from the first to the third.
Model small_model(std::uint64_t seed = 1) {
  Model model("small", seed);
  const Value x = model.input("x", {6});
  const Value labels = model.labels();
  Value first, second, third;
  {
    const auto block = model.block("B1");
    first = model.relu(model.linear("fc1", x, 8));
  }
  {
    const auto block = model.block("B2");
    second = model.relu(model.linear("fc2", first, 8));
  }
  {
    const auto block = model.block("B3");
    third = model.relu(model.linear("fc3", model.add(second, first), 8));
  }
  const auto block = model.block("B4");
  const Value logits = model.linear("fc4", third, 3);
  model.output("logits", logits);
  model.loss(model.cross_entropy(logits, labels));
  return model;
}

std::vector<Tensor> samples(std::int64_t count) {
  std::vector<float> values;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    labels.push_back(i % 3);
    for (int k = 0; k < 6; ++k)
      values.push_back(static_cast<float>((i * 31 + k * 17) % 23) / 11.5f - 1.0f);
  }
  return {Tensor({count, 6}, values), Tensor({count}, labels)};
}

Options options_for(int accumulation, int iterations) {
  Options options{.batch_size = 2, .device_iterations = iterations};
  options.training.gradient_accumulation = accumulation;
  return options;
}

// F14 and 2.6 of docs/reference.md: inference has the weights of the last update, copied once after
// a change.
TEST(SharedWeights, ReachInferenceOnceAfterTheyChanged) {
  const Model model = small_model();
  TrainingModel training(model, options_for(4, 1), AdamW{});
  InferenceModel serving(model, {.batch_size = 4});
  const auto batch = samples(8);
  const std::vector<Tensor> question{batch[0].rows(0, 4)};

  const Tensor before = serving.run(question).output("logits");
  serving.run(question);
  EXPECT_EQ(serving.weight_uploads(), 1u);
  training.step(batch);
  training.step(batch);
  const Tensor after = serving.run(question).output("logits");
  serving.run(question);
  EXPECT_EQ(serving.weight_uploads(), 2u);
  EXPECT_FALSE(same_bits(before, after));
}

TEST(SharedWeights, SetByTheHostReachTheRunningTraining) {
  Model model = small_model();
  TrainingModel training(model, options_for(4, 1), Sgd{.learning_rate = 0});
  const auto batch = samples(8);
  const float before = training.step(batch).loss.item();
  const Model other = small_model(2);
  for (const ParameterInfo& parameter : other.parameters())
    model.set_weight(parameter.name, other.weight(parameter.name));
  const float after = training.step(batch).loss.item();
  TrainingModel reference(other, options_for(4, 1), Sgd{.learning_rate = 0});
  EXPECT_NE(before, after);
  EXPECT_EQ(after, reference.step(batch).loss.item());
}

// F14 of docs/reference.md: weights belong to the model, and not to the object that trained them.
TEST(SharedWeights, OutliveTheTrainingModel) {
  const Model model = small_model();
  const Tensor initial = model.weight("fc1.weight");
  {
    TrainingModel training(model, options_for(4, 1), AdamW{});
    training.step(samples(8));
  }
  EXPECT_FALSE(same_bits(model.weight("fc1.weight"), initial));
}

TEST(InferenceModel, RunsAnyNumberOfSamplesUpToACall) {
  const Model model = small_model();
  InferenceModel one_by_one(model, {.batch_size = 1, .device_iterations = 30});
  Options options{.batch_size = 4, .device_iterations = 3};
  options.topology.replication_factor = 2;
  InferenceModel serving(model, options);
  EXPECT_EQ(serving.compile_report().call.samples(), serving.samples_per_run());
  const Tensor x = samples(24)[0];
  const Tensor expected = one_by_one.run({x}).output("logits");
  for (std::int64_t count = 1; count <= 24; ++count) {
    const Tensor logits = serving.run({x.rows(0, count)}).output("logits");
    ASSERT_EQ(logits.shape(), (Shape{count, 3}));
    for (std::int64_t i = 0; i < count * 3; ++i)
      ASSERT_NEAR(logits.as<float>()[static_cast<std::size_t>(i)],
                  expected.as<float>()[static_cast<std::size_t>(i)], 1e-6);
  }
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { serving.run({x.rows(0, 0)}); }),
            "run: expected 1 to 24 samples (batch size x device iterations x replicas), got 0");
}

// F2 of docs/reference.md: the loss is inside the model, and inference asks for no labels.
TEST(InferenceModel, TakesOnlyTheInputsThatItsOutputsNeed) {
  const Model model = small_model();
  EXPECT_EQ(InferenceModel(model, {}).inputs(), std::vector<std::string>{"x"});
  EXPECT_EQ(TrainingModel(model, {}, Sgd{}).inputs(), (std::vector<std::string>{"x", "labels"}));
}

TEST(TrainingModel, D1_OptionsInUseAreFrozen) {
  Options options = options_for(4, 1);
  const Model model = small_model();
  TrainingModel training(model, options, Sgd{});
  InferenceModel serving(model, options);
  static_assert(std::is_same_v<decltype(training.options()), const Options&>);
  static_assert(std::is_same_v<decltype(serving.options()), const Options&>);
  const std::string made_with = to_json(options);
  const StepResult before = serving.run({samples(2)[0]});
  options.batch_size = 3;
  options.training.gradient_accumulation = 5;
  options.output.mode = OutputMode::sum;
  options.topology.replication_factor = 2;
  EXPECT_EQ(to_json(training.options()), made_with);
  EXPECT_EQ(to_json(serving.options()), made_with);
  EXPECT_EQ(training.step(samples(8)).loss.shape(), Shape{});
  EXPECT_EQ(serving.run({samples(2)[0]}).output("logits").shape(), before.output("logits").shape());
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step(samples(15)); }).substr(0, 31),
            "step: expected 1 to 8 samples (");
}

TEST(TrainingModel, D11_OptionsAreCopiedForInferenceAndChangedThere) {
  const Options options = options_for(4, 2);
  Options inference = options;
  inference.batch_size = 5;
  inference.device_iterations = 7;
  const Model model = small_model();
  TrainingModel training(model, options, Sgd{});
  InferenceModel serving(model, inference);
  EXPECT_EQ(training.step(samples(16)).output("logits").shape(), (Shape{2, 3}));
  EXPECT_EQ(serving.run({samples(35)[0]}).output("logits").shape(), (Shape{35, 3}));
}

TEST(TrainingModel, DoesAsManyUpdatesAsTheSamplesHold) {
  TrainingModel training(small_model(), options_for(4, 3), Sgd{});
  training.step(samples(24));
  training.step(samples(8));
  EXPECT_EQ(training.updates(), 4u);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step(samples(32)); }),
            "step: expected 1 to 24 samples (batch size x gradient accumulation x device "
            "iterations x replicas), got 32");
  training.step(samples(16));
  EXPECT_EQ(training.updates(), 6u) << "a refused call changes nothing";
}

TEST(TrainingModel, RefusesTensorsThatDoNotFit) {
  const Model model = small_model();
  TrainingModel training(model, options_for(4, 1), Sgd{});
  const auto good = samples(8);
  EXPECT_EQ(refusal(Errc::shape_mismatch, [&] { training.step({good[0]}); }),
            "model \"small\": expected 2 input tensors (x, labels), got 1");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      training.step({good[1], good[1]});
                    }),
            "model \"small\": input \"x\": expected f32[2,6] with any number of rows, got i64[8]");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      training.step({good[0], good[1].rows(0, 4)});
                    }),
            "model \"small\": input \"labels\": expected 8 rows like the inputs before it, got 4");
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      training.step({good[0], Tensor()});
                    }),
            "model \"small\": input \"labels\" is an empty tensor");
  EXPECT_EQ(training.updates(), 0u);
  const Model untouched = small_model();
  TrainingModel expected(untouched, options_for(4, 1), Sgd{});
  EXPECT_TRUE(same_bits(training.step(good).loss, expected.step(good).loss));
  EXPECT_TRUE(same_bits(model.weight("fc1.weight"), untouched.weight("fc1.weight")));
  EXPECT_EQ(training.updates(), 1u);
}

TEST(TrainingModel, ChangesItsLearningRateBetweenSteps) {
  const Model model = small_model();
  Optimizer optimizer = Sgd{.learning_rate = 0.1, .momentum = 0.9};
  TrainingModel training(model, options_for(4, 1), optimizer);
  training.step(samples(8));
  const Tensor before = model.weight("fc2.weight");
  optimizer.set_learning_rate(0);
  training.set_optimizer(optimizer);
  training.step(samples(8));
  EXPECT_TRUE(same_bits(model.weight("fc2.weight"), before));
}

TEST(TrainingModel, R5_5_CopiesNoWeightsForAnotherLearningRate) {
  Model model = small_model();
  int copies = 0;
  Options options = options_for(4, 1);
  options.runtime.log_level = LogLevel::debug;
  options.runtime.log = [&](std::string_view text) {
    copies += text.ends_with(": weights copied to the IPUs");
  };
  Optimizer optimizer = Sgd{.learning_rate = 0.1, .momentum = 0.9};
  TrainingModel training(model, options, optimizer);
  for (const double learning_rate : {0.1, 0.05, 0.025}) {
    optimizer.set_learning_rate(learning_rate);
    training.set_optimizer(optimizer);
    training.step(samples(8));
  }
  EXPECT_EQ(copies, 1) << "those of the beginning";
  model.set_weight("fc1.bias", model.weight("fc1.bias"));
  training.step(samples(8));
  EXPECT_EQ(copies, 2);
}

TEST(TrainingModel, RefusesAnOptimizerWithOtherState) {
  struct Row {
    Optimizer before, after;
  };
  const Row rows[] = {{Sgd{}, Sgd{.momentum = 0.9}},
                      {RmsProp{.centered = true}, RmsProp{.momentum = 0.9}},
                      {RmsProp{}, RmsProp{.tf_variant = true}}};
  for (const Row& row : rows) {
    TrainingModel training(small_model(), options_for(4, 1), row.before);
    training.step(samples(8));
    EXPECT_EQ(refusal(Errc::invalid_argument, [&] { training.set_optimizer(row.after); }),
              "optimizer: parameter \"fc1.weight\" would need other state than it has; make a new "
              "TrainingModel to change which state is kept (momentum, centered, ...)");
    training.step(samples(8));
  }
}

TEST(TrainingModel, RefusesOtherConstantsAndGoesOn) {
  TrainingModel training(small_model(), options_for(4, 1), Sgd{});
  training.step(samples(8));
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [&] { training.set_optimizer(Sgd{.weight_decay = 0.5}); }),
      "optimizer: sgd.weight_decay of parameter \"fc1.weight\" is constant, 0, and cannot "
      "become 0.5: mark_as_variable(\"weight_decay\") on the optimizer that a TrainingModel is "
      "made with allows that");
  EXPECT_EQ(std::get<Sgd>(training.optimizer().settings).weight_decay, 0);
  training.step(samples(8));
  EXPECT_EQ(training.updates(), 2u);
}

TEST(TrainingModel, RefusesAnotherRuleThatKeepsTheSameState) {
  TrainingModel training(small_model(), options_for(4, 1), AdamW{});
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { training.set_optimizer(Lamb{}); }),
            "optimizer: the rule is adamw, and cannot become lamb: make a new TrainingModel for "
            "that");
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [&] { training.set_optimizer(Adam{.weight_decay = 0.01}); }),
      "optimizer: the rule is adamw, and cannot become adam: make a new TrainingModel for that");
  EXPECT_TRUE(std::holds_alternative<AdamW>(training.optimizer().settings));
}

std::string scaling_verdict(double loss_scaling, Options options) {
  Optimizer optimizer = Sgd{};
  optimizer.loss_scaling = loss_scaling;
  return refusal(Errc::invalid_argument, [&] { TrainingModel(small_model(), options, optimizer); });
}

// The gradient is multiplied by 1 / (L·G·R) in f32: if that is 0, no weight moves.
TEST(TrainingModel, RefusesALossScalingWhoseInverseIsZeroInF32) {
  Options mean = options_for(4, 1);
  mean.training.gradient_accumulation = 256;
  EXPECT_EQ(scaling_verdict(0x1p120, mean),
            "optimizer.loss_scaling: expected at most 3.32306998946229e+35, as the gradient is a "
            "mean of 256 as well, got 1.329227995784916e+36");
  EXPECT_EQ(scaling_verdict(0x1p118, mean), "accepted");
  Options sum = mean;
  sum.training.reduction = Reduction::sum;
  EXPECT_EQ(scaling_verdict(3e38, sum),
            "optimizer.loss_scaling: expected at most 8.507059173023462e+37, got 3e+38");
  EXPECT_EQ(scaling_verdict(0x1p126, sum), "accepted");
}

TEST(TrainingModel, RefusesToGoOnWithSuchALossScaling) {
  Optimizer optimizer = Sgd{};
  optimizer.loss_scaling = 1024;
  TrainingModel training(small_model(), options_for(4, 1), optimizer);
  optimizer.loss_scaling = 3e38;
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { training.set_optimizer(optimizer); }),
            "accepted");
  EXPECT_EQ(training.optimizer().loss_scaling, 1024);
}

// 2.3 and F13 of docs/reference.md: SGD with a learning rate of 0.01 is the optimizer where none is
// given.
TEST(TrainingModel, DescendsWhereNoOptimizerIsGiven) {
  const auto trained = [](auto... optimizer) {
    const Model model = small_model();
    TrainingModel training(model, options_for(4, 1), optimizer...);
    training.step(samples(8));
    return model.weight("fc1.weight");
  };
  EXPECT_TRUE(same_bits(trained(), trained(Optimizer(Sgd{.learning_rate = 0.01}))));
}

/// Returns the weights after four calls of one update each. The learning rate follows `schedule`,
/// either in the engine or, `by_hand`, in this function.
std::vector<Tensor> scheduled(const LearningRateSchedule& schedule, bool by_hand) {
  const Model model = small_model();
  Optimizer optimizer = Sgd{.learning_rate = 0.5, .momentum = 0.9};
  optimizer.groups = {{{"fc1.bias"}, Sgd{.learning_rate = 0.25, .momentum = 0.9}}};
  Optimizer changing = optimizer;
  if (!by_hand) optimizer.schedule = schedule;
  TrainingModel training(model, options_for(4, 1), optimizer);
  for (int update = 0; update < 4; ++update) {
    const double factor = schedule.at(update);
    if (by_hand) {
      std::get<Sgd>(changing.settings).learning_rate = 0.5 * factor;
      std::get<Sgd>(changing.groups[0].settings).learning_rate = 0.25 * factor;
      training.set_optimizer(changing);
    } else {
      EXPECT_EQ(training.learning_rate(), 0.5 * factor);
    }
    training.step(samples(8));
  }
  std::vector<Tensor> weights;
  for (const ParameterInfo& parameter : model.parameters())
    weights.push_back(model.weight(parameter.name));
  return weights;
}

// Each update multiplies the learning rates of all groups by its own factor.
TEST(LearningRateSchedules, AreFollowedUpdateByUpdate) {
  const auto schedule = LearningRateSchedule::exponential(0.5).after_warm_up(2, 0.25);
  const auto by_hand = scheduled(schedule, true), followed = scheduled(schedule, false);
  for (std::size_t i = 0; i < by_hand.size(); ++i)
    EXPECT_TRUE(same_bits(followed[i], by_hand[i])) << i;
}

TEST(ParameterGroups, FollowTheirOwnConstants) {
  const Model model = small_model();
  Optimizer optimizer = AdamW{.learning_rate = 0.01};
  optimizer.groups = {{{"fc1.weight", "fc3.bias"}, AdamW{.learning_rate = 0, .weight_decay = 0}}};
  const Tensor frozen = model.weight("fc1.weight"), free = model.weight("fc2.weight");
  TrainingModel training(model, options_for(4, 2), optimizer);
  training.step(samples(16));
  EXPECT_TRUE(same_bits(model.weight("fc1.weight"), frozen));
  EXPECT_FALSE(same_bits(model.weight("fc2.weight"), free));
}

/// Returns an optimizer whose groups follow other rules than the rest.
Optimizer mixed_rules() {
  Optimizer optimizer = Sgd{.learning_rate = 0.05, .momentum = 0.9};
  optimizer.groups = {{{"fc1.weight", "fc3.weight"}, AdamW{.learning_rate = 0.01}},
                      {{"fc2.weight"}, Lamb{.learning_rate = 0.01}},
                      {{"fc3.bias"}, RmsProp{.learning_rate = 0.01, .centered = true}}};
  optimizer.max_grad_norm = 0.5;
  return optimizer;
}

TEST(ParameterGroups, FollowRulesOfTheirOwnToTheSameBitsOnEveryTopology) {
  const auto trained = [](const char* stages, int replicas, bool moved) {
    Options options = options_for(4, 2);
    options.topology.stages = parse_stages(stages);
    options.topology.replication_factor = replicas;
    options.training.offload.optimizer_state = {.on = moved, .minimum_bytes = 0};
    options.training.sharding.optimizer_state = {.on = moved, .minimum_elements = 2};
    return train(small_model(), options, mixed_rules(), samples(64), 4);
  };
  for (const int replicas : {1, 2})
    for (const char* stages : {"B1,B2,B3,B4", "B1|B2,B3|B4"})
      for (const bool moved : {false, true})
        EXPECT_EQ(first_difference(trained("B1,B2,B3,B4", replicas, false),
                                   trained(stages, replicas, moved)),
                  "")
            << stages << replicas << moved;
}

TEST(ParameterGroups, ChangeTheConstantsOfTheirRulesAndNoRule) {
  TrainingModel training(small_model(), options_for(4, 1), mixed_rules());
  training.step(samples(8));
  Optimizer next = mixed_rules();
  next.set_learning_rate(0.5);
  training.set_optimizer(next);
  std::get<RmsProp>(next.groups[2].settings).centered = false;
  EXPECT_NE(refusal(Errc::invalid_argument, [&] { training.set_optimizer(next); }), "accepted");
  next = mixed_rules();
  next.groups[0].settings = Adam{.learning_rate = 0.01};
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { training.set_optimizer(next); }),
            "optimizer: the rule of parameter \"fc1.weight\" is adamw, and cannot become adam: "
            "make a new TrainingModel for that");
  training.step(samples(8));
  EXPECT_EQ(training.updates(), 2u);
}

// F17 and 2.6 of docs/reference.md: a dropout's masks depend on the seed, and not on where its
// layer runs.
TEST(Dropout, DrawsTheSameMasksOnEveryTopology) {
  const auto build = [] {
    Model model("dropping", 5);
    Value x = model.input("x", {6});
    const Value labels = model.labels();
    {
      const auto block = model.block("A");
      x = model.dropout("drop1", model.relu(model.linear("fc1", x, 16)), 0.5);
    }
    const auto block = model.block("B");
    x = model.dropout("drop2", model.linear("fc2", x, 3), 0.2);
    model.output("logits", x);
    model.loss(model.cross_entropy(x, labels));
    return model;
  };
  Options one = options_for(4, 1);
  one.seed = 9;
  one.topology.stages = parse_stages("A,B");
  Options two = options_for(4, 2);
  two.seed = 9;
  const TrainingRun a = train(build(), one, Sgd{}, samples(32), 4);
  const TrainingRun b = train(build(), two, Sgd{}, samples(32), 4);
  EXPECT_EQ(first_difference(a, b), "");
  two.seed = 10;
  EXPECT_NE(first_difference(a, train(build(), two, Sgd{}, samples(32), 4)), "");
}

/// Returns how far one update with learning rate 1 moves weights that were zero. The gradients are
/// tiny: the inputs are small, and all classes are equally frequent, so that the biases hardly have
/// a gradient.
double length_of_update(double limit, bool exact) {
  Model model("slope");
  const Value logits = model.linear("fc", model.input("x", {6}), 3);
  model.loss(model.cross_entropy(logits, model.labels()));
  model.set_weight("fc.weight", Tensor::zeros(DType::f32, {3, 6}));
  model.set_weight("fc.bias", Tensor::zeros(DType::f32, {3}));
  std::vector<Tensor> batch = samples(6);
  std::vector<float> x(batch[0].as<float>().begin(), batch[0].as<float>().end());
  for (float& value : x) value *= 1e-5f;
  batch[0] = Tensor({6, 6}, x);
  Optimizer optimizer = Sgd{.learning_rate = 1};
  optimizer.max_grad_norm = limit;
  optimizer.exact_max_grad_norm = exact;
  TrainingModel(model, {.batch_size = 6}, optimizer).step(batch);
  double squares = 0;
  for (const char* name : {"fc.weight", "fc.bias"})
    for (const float moved : model.weight(name).as<float>()) squares += double{moved} * moved;
  return std::sqrt(squares);
}

TEST(Clipping, EndsAtTheLimitExactlyIfAsked) {
  const double norm = length_of_update(0, false), limit = norm / 2;
  EXPECT_GT(norm, 1e-7);
  EXPECT_NEAR(length_of_update(limit, true), limit, 1e-6 * limit);
  EXPECT_NEAR(length_of_update(limit, false), limit * norm / (norm + 1e-6), 1e-6 * limit);
  EXPECT_LT(length_of_update(limit, false), 0.95 * limit) << "or the two could not be told apart";
}

TEST(Reduction, SumEqualsMeanAtAScaledLearningRate) {
  Options mean = options_for(4, 1), sum = mean;
  sum.training.reduction = Reduction::sum;
  const TrainingRun a = train(small_model(), mean, Sgd{.learning_rate = 0.5}, samples(32), 4);
  const TrainingRun b = train(small_model(), sum, Sgd{.learning_rate = 0.125}, samples(32), 4);
  EXPECT_EQ(first_difference(a, b), "") << "a quarter is a power of two: no rounding";
}

}  // namespace
}  // namespace penstock::testing
