// 2.3 of docs/reference.md: the optimizer's state is saved and restored, and training goes on as if
// it had not stopped.
#include "engine/optimizer_state.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "engine/files/weights_file.hpp"
#include "penstock/penstock.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock {
namespace {

using testing::refusal;
using testing::TemporaryDirectory;

constexpr int batch = 3, accumulation = 2;

/// Returns a model of two blocks with a dropout, whose masks depend on the number of the update.
Model network() {
  Model model("m", 4);
  Value x = model.input("x", {5});
  const Value labels = model.labels();
  {
    const auto block = model.block("A");
    x = model.dropout("drop", model.relu(model.linear("fc1", x, 6)), 0.5);
  }
  const auto block = model.block("B");
  model.loss(model.cross_entropy(model.linear("fc2", x, 4), labels));
  return model;
}

Options options_for(int replicas = 1, bool offload = false, const char* stages = "A|B") {
  Options options{.batch_size = batch, .device_iterations = 4};
  options.training.gradient_accumulation = accumulation;
  options.training.offload.optimizer_state.on = offload;
  options.topology.replication_factor = replicas;
  options.topology.stages = parse_stages(stages);
  return options;
}

/// Returns the samples of updates [begin, end).
std::vector<Tensor> samples(std::int64_t begin, std::int64_t end, int replicas) {
  const std::int64_t rows = batch * accumulation * replicas;
  return {testing::uniform({8 * rows, 5}, 1).rows(begin * rows, end * rows),
          testing::labels({8 * rows}, 2, 4).rows(begin * rows, end * rows)};
}

std::vector<float> weights(const Model& model) {
  std::vector<float> all;
  for (const ParameterInfo& info : model.parameters()) {
    const Tensor weight = model.weight(info.name);
    all.insert(all.end(), weight.as<float>().begin(), weight.as<float>().end());
  }
  return all;
}

/// Returns all of a state's f32 elements.
std::vector<float> numbers(const std::vector<NamedTensor>& state) {
  std::vector<float> all;
  for (const NamedTensor& one : state)
    if (one.tensor.dtype() == DType::f32)
      all.insert(all.end(), one.tensor.as<float>().begin(), one.tensor.as<float>().end());
  return all;
}

/// Returns an optimizer whose groups follow other rules, with more, less and no state.
Optimizer mixed() {
  Optimizer optimizer = Sgd{.learning_rate = 0.1, .momentum = 0.9};
  optimizer.groups = {{{"fc1.weight"}, AdamW{.learning_rate = 0.05}},
                      {{"fc2.weight"}, Lamb{.learning_rate = 0.05}},
                      {{"fc1.bias"}, Sgd{.learning_rate = 0.1}}};
  optimizer.max_grad_norm = 0.1;
  return optimizer;
}

const Optimizer rules[] = {AdamW{.learning_rate = 0.05},
                           Lamb{.learning_rate = 0.05},
                           Sgd{.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5},
                           RmsProp{.momentum = 0.5, .centered = true},
                           Sgd{},
                           mixed()};

/// A Move moves weights and state to another model, after three of six updates.
using Move =
    std::function<void(const Model& from, TrainingModel& trained, Model& to, TrainingModel& fresh)>;

std::vector<float> continued(const Optimizer& optimizer, const Options& first,
                             const Options& second, const Move& move) {
  const int replicas = first.topology.replication_factor;
  const Model before = network();
  TrainingModel trained(before, first, optimizer);
  trained.step(samples(0, 3, replicas));
  Model after = network();
  TrainingModel fresh(after, second, optimizer);
  // The other model has trained before, which must leave no trace.
  fresh.step(samples(6, 8, replicas));
  move(before, trained, after, fresh);
  EXPECT_EQ(fresh.updates(), 3u);
  fresh.step(samples(3, 4, replicas));
  fresh.step(samples(4, 6, replicas));
  EXPECT_EQ(fresh.updates(), 6u);
  return weights(after);
}

void by_tensors(const Model& from, TrainingModel& trained, Model& to, TrainingModel& fresh) {
  for (const ParameterInfo& info : from.parameters())
    to.set_weight(info.name, from.weight(info.name));
  fresh.set_optimizer_state(trained.optimizer_state());
}

std::vector<float> uninterrupted(const Optimizer& optimizer, int replicas) {
  const Model model = network();
  TrainingModel training(model, options_for(replicas), optimizer);
  training.step(samples(0, 4, replicas));
  training.step(samples(4, 6, replicas));
  return weights(model);
}

TEST(OptimizerState, GoesOnBitForBitUnderEveryRule) {
  for (const Optimizer& optimizer : rules)
    EXPECT_EQ(continued(optimizer, options_for(), options_for(), by_tensors),
              uninterrupted(optimizer, 1))
        << optimizer.settings.index();
}

TEST(OptimizerState, GoesOnBitForBitThroughFiles) {
  const TemporaryDirectory directory;
  const std::string weights_path = (directory / "w").string(),
                    state_path = (directory / "o").string();
  const auto by_files = [&](const Model& from, TrainingModel& trained, Model& to,
                            TrainingModel& fresh) {
    from.save_weights(weights_path);
    trained.save_optimizer_state(state_path);
    to.load_weights(weights_path);
    fresh.load_optimizer_state(state_path);
  };
  for (const Optimizer& optimizer : {rules[0], mixed()})
    EXPECT_EQ(continued(optimizer, options_for(), options_for(), by_files),
              uninterrupted(optimizer, 1));
}

TEST(OptimizerState, BelongsToNoTopology) {
  for (const Optimizer& optimizer : {rules[0], mixed()})
    for (const int replicas : {1, 2})
      for (const bool offload : {false, true})
        for (const char* stages : {"A|B", "A,B"})
          EXPECT_EQ(continued(optimizer, options_for(replicas, !offload),
                              options_for(replicas, offload, stages), by_tensors),
                    uninterrupted(optimizer, replicas))
              << replicas << offload << stages;
}

// 4.4 of docs/reference.md: replicas can load a state that sharded replicas have saved, however
// many they are, and whether or not they divide the state.
TEST(OptimizerState, OfShardsIsWholeInFiles) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "o").string();
  const auto options = [](int replicas, bool shards) {
    Options result = options_for(replicas);
    result.training.sharding.optimizer_state = {.on = shards, .minimum_elements = 2};
    return result;
  };
  for (const Optimizer& optimizer : rules) {
    const Model first = network();
    TrainingModel trained(first, options(4, true), optimizer);
    trained.step(samples(0, 3, 4));
    trained.save_optimizer_state(path);
    for (const int replicas : {1, 2, 3, 4}) {
      std::vector<std::vector<float>> results;
      for (const bool shards : {false, true}) {
        Model model = network();
        TrainingModel fresh(model, options(replicas, shards), optimizer);
        for (const ParameterInfo& info : first.parameters())
          model.set_weight(info.name, first.weight(info.name));
        fresh.load_optimizer_state(path);
        EXPECT_EQ(numbers(fresh.optimizer_state()), numbers(trained.optimizer_state()));
        fresh.step(samples(0, 4, replicas));
        results.push_back(weights(model));
      }
      EXPECT_EQ(results[0], results[1]) << optimizer.settings.index() << ", " << replicas;
    }
  }
}

TEST(OptimizerState, OfShardsGoesOnAsOfAnUninterruptedRun) {
  for (const Optimizer& optimizer : rules)
    for (const bool shards_first : {false, true}) {
      Options first = options_for(3), second = options_for(3, true, "A,B");
      first.training.sharding.optimizer_state = {.on = shards_first, .minimum_elements = 2};
      second.training.sharding.optimizer_state = {.on = !shards_first, .minimum_elements = 2};
      EXPECT_EQ(continued(optimizer, first, second, by_tensors), uninterrupted(optimizer, 3));
    }
}

std::vector<std::string> names(const std::vector<NamedTensor>& state) {
  std::vector<std::string> result;
  for (const NamedTensor& entry : state) result.push_back(entry.name);
  return result;
}

TEST(OptimizerState, IsNamedAsPyTorchNamesIt) {
  const Model model = network();
  TrainingModel training(model, options_for(), AdamW{});
  training.step(samples(0, 2, 1));
  const auto state = training.optimizer_state();
  EXPECT_EQ(names(state), (std::vector<std::string>{
                              "step", "fc1.weight.exp_avg", "fc1.weight.exp_avg_sq",
                              "fc1.bias.exp_avg", "fc1.bias.exp_avg_sq", "fc2.weight.exp_avg",
                              "fc2.weight.exp_avg_sq", "fc2.bias.exp_avg", "fc2.bias.exp_avg_sq"}));
  EXPECT_EQ(state[0].tensor.as<std::int64_t>()[0], 2);
  EXPECT_EQ(state[1].tensor.shape(), (Shape{6, 5}));
}

TEST(OptimizerState, OfGroupsIsWhatTheirRulesKeep) {
  TrainingModel training(network(), options_for(), mixed());
  EXPECT_EQ(names(training.optimizer_state()),
            (std::vector<std::string>{"step", "fc1.weight.exp_avg", "fc1.weight.exp_avg_sq",
                                      "fc2.weight.exp_avg", "fc2.weight.exp_avg_sq",
                                      "fc2.bias.momentum_buffer"}));
}

// A parameter of a group moves as it would if all parameters followed the rule of that group.
TEST(OptimizerState, OfGroupsMovesParametersAsTheirOwnRuleDoes) {
  const auto trained = [](const Optimizer& optimizer) {
    const Model model = network();
    TrainingModel training(model, options_for(), optimizer);
    training.step(samples(0, 1, 1));
    return model;
  };
  Optimizer unlimited = mixed();
  unlimited.max_grad_norm = 0;
  const Model together = trained(unlimited);
  const std::pair<std::string, Optimizer> alone[] = {
      {"fc1.weight", AdamW{.learning_rate = 0.05}},
      {"fc2.weight", Lamb{.learning_rate = 0.05}},
      {"fc1.bias", Sgd{.learning_rate = 0.1}},
      {"fc2.bias", Sgd{.learning_rate = 0.1, .momentum = 0.9}}};
  for (const auto& [parameter, optimizer] : alone)
    EXPECT_TRUE(
        testing::same_bits(together.weight(parameter), trained(optimizer).weight(parameter)))
        << parameter;
}

TEST(OptimizerState, ThatDoesNotFitIsRefusedAndChangesNothing) {
  const Model model = network();
  TrainingModel training(model, options_for(), Sgd{.momentum = 0.9});
  training.step(samples(0, 2, 1));
  const std::vector<NamedTensor> good = training.optimizer_state();
  const auto refused = [&](auto change) {
    std::vector<NamedTensor> state = good;
    change(state);
    return refusal(Errc::shape_mismatch, [&] { training.set_optimizer_state(state); });
  };
  EXPECT_EQ(
      refused([](auto& state) { state.erase(state.begin() + 1); }),
      "optimizer state: tensor \"fc1.weight.momentum_buffer\": expected f32[6,5], found none");
  EXPECT_EQ(refused([](auto& state) { state.erase(state.begin()); }),
            "optimizer state: tensor \"step\": expected i64[], found none");
  EXPECT_EQ(refused([](auto& state) {
              state.push_back({"fc9.bias", state[1].tensor});
            }),
            "optimizer state: tensor \"fc9.bias\": is no state of this model's optimizer");
  EXPECT_EQ(refused([](auto& state) { state.push_back(state[1]); }),
            "optimizer state: tensor \"fc1.weight.momentum_buffer\": it is there twice");
  EXPECT_EQ(refused([](auto& state) {
              state[1].tensor = Tensor::zeros(DType::f32, {6, 4});
            }),
            "optimizer state: tensor \"fc1.weight.momentum_buffer\": expected f32[6,5], got "
            "f32[6,4]");

  const std::vector<NamedTensor> after = training.optimizer_state();
  for (std::size_t i = 0; i < good.size(); ++i)
    EXPECT_TRUE(testing::same_bits(after[i].tensor, good[i].tensor));
  training.step(samples(2, 4, 1));
  EXPECT_EQ(training.updates(), 4u);
}

TEST(OptimizerState, R2_3_OfAMissingTensorNamesNoneThatIsExpectedOrOfAnotherParameter) {
  TrainingModel training(network(), options_for(), AdamW{});
  std::vector<NamedTensor> state = training.optimizer_state();
  const auto said = [&] {
    return refusal(Errc::shape_mismatch, [&] { training.set_optimizer_state(state); });
  };
  const std::string text =
      "optimizer state: tensor \"fc1.weight.exp_avg\": expected f32[6,5], found none";
  state.erase(state.begin() + 1);
  EXPECT_EQ(said(), text);
  state.push_back({"fc1.weight.deep.momentum", state[1].tensor});
  EXPECT_EQ(said(), text);
  state.push_back({"fc1.weight.momentum", state[1].tensor});
  EXPECT_EQ(said(), text + ", but \"fc1.weight.momentum\"");
}

/// Returns how `state` with another `step` is refused, or "accepted".
std::string verdict_on_step(TrainingModel& training, std::vector<NamedTensor> state,
                            std::int64_t step) {
  state[0].tensor = Tensor({}, std::span(&step, 1));
  return refusal(Errc::invalid_data, [&] { training.set_optimizer_state(state); });
}

TEST(OptimizerState, OfAStepThatCannotBeCountedOnIsRefused) {
  TrainingModel training(network(), options_for(), Sgd{.momentum = 0.9});
  const std::vector<NamedTensor> state = training.optimizer_state();
  const std::string expected = "optimizer state: tensor \"step\": expected 0 to 9007199254740992";
  EXPECT_EQ(verdict_on_step(training, state, -1), expected + ", got -1");
  EXPECT_EQ(verdict_on_step(training, state, std::numeric_limits<std::int64_t>::max()),
            expected + ", got 9223372036854775807");
  EXPECT_EQ(training.updates(), 0u);
  EXPECT_EQ(verdict_on_step(training, state, std::int64_t{1} << 53), "accepted");
}

/// Returns how `state` is refused if the last element of the tensor called `name` is `number`, or
/// "accepted".
std::string verdict_on_number(TrainingModel& training, std::vector<NamedTensor> state,
                              const std::string& name, float number) {
  for (auto& [tensor_name, tensor] : state) {
    if (tensor_name != name) continue;
    std::vector<float> values(tensor.as<float>().begin(), tensor.as<float>().end());
    values.back() = number;
    tensor = Tensor(tensor.shape(), std::span<const float>(values));
  }
  return refusal(Errc::invalid_data, [&] { training.set_optimizer_state(state); });
}

TEST(OptimizerState, OfNumbersThatNoTrainingHasIsRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  TrainingModel adamw(network(), options_for(), AdamW{}),
      rmsprop(network(), options_for(), RmsProp{});
  const auto of_adamw = [&](const std::string& name, float number) {
    return verdict_on_number(adamw, adamw.optimizer_state(), name, number);
  };
  const std::string subject = "optimizer state: tensor ";
  EXPECT_EQ(of_adamw("fc1.bias.exp_avg", nan),
            subject + "\"fc1.bias.exp_avg\": expected finite numbers, got nan as element 5");
  EXPECT_EQ(of_adamw("fc1.bias.exp_avg", -infinity),
            subject + "\"fc1.bias.exp_avg\": expected finite numbers, got -inf as element 5");
  EXPECT_EQ(of_adamw("fc2.bias.exp_avg_sq", -0.5f),
            subject +
                "\"fc2.bias.exp_avg_sq\": expected finite numbers of 0 or more, got -0.5 as "
                "element 3");
  EXPECT_EQ(verdict_on_number(rmsprop, rmsprop.optimizer_state(), "fc2.bias.square_avg", -0.5f),
            subject +
                "\"fc2.bias.square_avg\": expected finite numbers of 0 or more, got -0.5 as "
                "element 3");
  EXPECT_EQ(of_adamw("fc1.bias.exp_avg", -0.5f), "accepted");
}

TEST(OptimizerState, OfAnotherRuleIsRefused) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "o").string();
  TrainingModel adamw(network(), options_for(), AdamW{}), adam(network(), options_for(), Adam{});
  adamw.save_optimizer_state(path);
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { adam.load_optimizer_state(path); }),
            "optimizer state file \"" + path + "\": expected the state of adam, got that of adamw");
  EXPECT_EQ(refusal(Errc::io_error, [&] { adam.load_optimizer_state("/tmp"); }),
            "optimizer state file \"/tmp\": expected a file, got a directory or device");
  network().save_weights(path);
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { adam.load_optimizer_state(path); }),
            "optimizer state file \"" + path +
                "\": expected the state of adam, got a file of no optimizer");
}

// States of adam and adamw have the same names and shapes.
TEST(OptimizerState, OfAnotherRuleOfAGroupIsRefused) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "o").string();
  const auto with_group = [](const OptimizerSettings& rest, const OptimizerSettings& group) {
    Optimizer optimizer(rest);
    optimizer.groups = {{{"fc2.weight"}, group}};
    return optimizer;
  };
  TrainingModel saved(network(), options_for(), with_group(AdamW{}, Adam{}));
  saved.save_optimizer_state(path);
  const auto verdict = [&](const Optimizer& optimizer) {
    TrainingModel training(network(), options_for(), optimizer);
    const std::string text =
        refusal(Errc::invalid_data, [&] { training.load_optimizer_state(path); });
    return text.substr(text.find(": ") == text.npos ? 0 : text.find(": ") + 2);
  };
  EXPECT_EQ(verdict(with_group(AdamW{}, Adam{})), "accepted");
  EXPECT_EQ(verdict(AdamW{}),
            "expected the state of adamw for parameter \"fc2.weight\", got that of adam");
  EXPECT_EQ(verdict(with_group(Adam{}, Adam{})),
            "expected the state of adam for parameter \"fc1.weight\", got that of adamw");
  Optimizer all_in_groups = with_group(Adam{}, Adam{});
  all_in_groups.groups.push_back({{"fc1.weight", "fc1.bias", "fc2.bias"}, AdamW{}});
  EXPECT_EQ(verdict(all_in_groups), "accepted");
}

/// Returns how `to` refuses a state that `from` has had, in memory and from a file.
std::pair<std::string, std::string> verdicts(const Optimizer& from, const Optimizer& to) {
  const TemporaryDirectory directory;
  const std::string path = (directory / "o").string();
  TrainingModel trained(network(), options_for(), from), other(network(), options_for(), to);
  trained.save_optimizer_state(path);
  std::string of_file = refusal(Errc::shape_mismatch, [&] { other.load_optimizer_state(path); });
  const std::string subject = "optimizer state file \"" + path + '"';
  if (of_file.starts_with(subject)) of_file = "optimizer state" + of_file.substr(subject.size());
  return {
      refusal(Errc::shape_mismatch, [&] { other.set_optimizer_state(trained.optimizer_state()); }),
      of_file};
}

TEST(OptimizerState, R2_3_OfAnotherVariantOfARuleIsRefused) {
  const auto refused = [](const Optimizer& from, const Optimizer& to, const std::string& expected,
                          const std::string& got) {
    const std::string text = "optimizer state: tensor \"fc1.weight." + expected +
                             "\": expected f32[6,5], found none, but \"fc1.weight." + got + '"';
    EXPECT_EQ(verdicts(from, to), std::pair(text, text));
  };
  const Sgd sgd{.momentum = 0.9}, keras{.momentum = 0.9, .keras_variant = true};
  refused(keras, sgd, "momentum_buffer", "momentum");
  refused(sgd, keras, "momentum", "momentum_buffer");
  const RmsProp rmsprop{.momentum = 0.9}, tf{.momentum = 0.9, .tf_variant = true};
  refused(tf, rmsprop, "square_avg", "momentum");
  refused(rmsprop, tf, "rms", "momentum_buffer");
  for (const Optimizer& same : {Optimizer(keras), Optimizer(tf)})
    EXPECT_EQ(verdicts(same, same), std::pair(std::string("accepted"), std::string("accepted")));
}

}  // namespace
}  // namespace penstock
