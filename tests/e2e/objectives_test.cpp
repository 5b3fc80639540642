// These tests train one network by several training models, each with its own objective. The result
// has the bits of separate models that hand each other their weights.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t batch = 3, accumulation = 2, rounds = 4;
constexpr std::int64_t samples = batch * accumulation;

/// Returns a tensor of `shape` with numbers from -1 to 1 that depend on `seed`.
Tensor numbers(const Shape& shape, std::size_t seed) {
  std::vector<float> elements;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    elements.push_back(
        static_cast<float>((i * i + 5 * i + static_cast<std::int64_t>(seed)) % 29) / 14 - 1);
  return {shape, std::span<const float>(elements)};
}

/// Returns what the input `name` of any network is given in round number `round`.
Tensor input(const std::string& name, std::int64_t round) {
  const std::size_t seed = 17 * static_cast<std::size_t>(round) + name.size();
  if (name == "action") {
    std::vector<std::int64_t> actions;
    for (std::int64_t i = 0; i < samples; ++i) actions.push_back((i + round) % 3);
    return {{samples}, std::span<const std::int64_t>(actions)};
  }
  if (name == "advantage") return numbers({samples}, seed);
  const std::int64_t width = name == "state" ? 4 : name == "noise" ? 3 : name == "real" ? 2 : 1;
  return numbers({samples, width}, seed);
}

std::vector<Tensor> inputs(const TrainingModel& training, std::int64_t round) {
  std::vector<Tensor> tensors;
  for (const std::string& name : training.inputs()) tensors.push_back(input(name, round));
  return tensors;
}

Options options(const char* stages) {
  Options options{.batch_size = batch};
  options.training.gradient_accumulation = accumulation;
  options.topology.stages = parse_stages(stages);
  return options;
}

/// A Network is a model with two losses.
struct Network {
  Model model;
  Value first_loss, second_loss;
};

/// Returns -log(1/(1 + exp(-score))).
Value surprise(Model& model, Value score) {
  return model.neg(model.log(model.sigmoid(score)));
}

/// Returns a generator of pairs of numbers, in block B1, and a discriminator, in block B2. The
/// first loss is the discriminator's.
Network gan() {
  Model model("gan", 7);
  const Value noise = model.input("noise", {3}), real = model.input("real", {2});
  Value fake;
  {
    const auto block = model.block("B1");
    fake = model.linear("g.out", model.tanh(model.linear("g.hidden", noise, 8)), 2);
    model.output("fake", fake);
  }
  const auto block = model.block("B2");
  const Value hidden = model.parameter("d.hidden", {8, 2}, Initializer::normal(0, 0.5)),
              out = model.parameter("d.out", {1, 8}, Initializer::normal(0, 0.5));
  const auto score = [&](Value x) {
    return model.linear(model.leaky_relu(model.linear(x, hidden), 0.2), out);
  };
  const Value of_fake = score(fake), of_real = score(real);
  model.output("score", of_real);
  const Value both = model.add(surprise(model, of_real), surprise(model, model.neg(of_fake)));
  return {model, model.identity_loss(both), model.identity_loss(surprise(model, of_fake))};
}

/// Returns a body in block B1, and an actor and a critic in block B2. The first loss is the
/// actor's.
Network actor_and_critic() {
  Model model("actor-critic", 9);
  const Value state = model.input("state", {4}), action = model.input("action", {}, DType::i64),
              advantage = model.input("advantage", {}), reward = model.input("reward", {1});
  Value body;
  {
    const auto block = model.block("B1");
    body = model.tanh(model.linear("body", state, 8));
  }
  const auto block = model.block("B2");
  const Value policy = model.linear("actor", body, 3), value = model.linear("critic", body, 1);
  model.output("policy", policy);
  model.output("value", value);
  const Value surprises = model.cross_entropy(policy, action, {.reduction = LossReduction::none});
  return {model, model.identity_loss(model.mul(surprises, advantage)),
          model.mse_loss(value, reward)};
}

/// A Part is one of the two trainings of a network.
struct Part {
  Value Network::*loss;
  std::vector<std::string> trains;
  std::vector<std::string> outputs;
  std::vector<std::string> inputs;  ///< Only these inputs are needed.
  Optimizer optimizer;
};

struct Case {
  const char* name;
  Network (*network)();
  Part first, second;
};

const Case cases[] = {{"GAN",
                       gan,
                       {.loss = &Network::first_loss,
                        .trains = {"d.*"},
                        .outputs = {},
                        .inputs = {"noise", "real"},
                        .optimizer = Adam{.learning_rate = 0.02}},
                       {.loss = &Network::second_loss,
                        .trains = {"g.*"},
                        .outputs = {"fake"},
                        .inputs = {"noise"},
                        .optimizer = Sgd{.learning_rate = 0.1, .momentum = 0.9}}},
                      {"actor and critic",
                       actor_and_critic,
                       {.loss = &Network::first_loss,
                        .trains = {"body.*", "actor.*"},
                        .outputs = {"policy"},
                        .inputs = {"state", "action", "advantage"},
                        .optimizer = Adam{.learning_rate = 0.02}},
                       {.loss = &Network::second_loss,
                        .trains = {"body.*", "critic.*"},
                        .outputs = {"value"},
                        .inputs = {"state", "reward"},
                        .optimizer = RmsProp{.learning_rate = 0.01}}}};

/// A Trace has what trainings have computed: the losses of all steps, and the weights at the end.
struct Trace {
  std::vector<Tensor> losses;
  std::vector<NamedTensor> weights;
};

std::string first_difference(const Trace& a, const Trace& b) {
  for (std::size_t i = 0; i < a.losses.size(); ++i)
    if (!same_bits(a.losses[i], b.losses.at(i))) return "loss " + std::to_string(i);
  for (std::size_t i = 0; i < a.weights.size(); ++i)
    if (!same_bits(a.weights[i].tensor, b.weights.at(i).tensor)) return a.weights[i].name;
  return "";
}

Objective objective_of(const Network& network, const Part& part) {
  return {.loss = network.*part.loss, .trains = part.trains, .outputs = part.outputs};
}

/// Two has the two training models of one network.
struct Two {
  Two(const Case& what, const Options& settings)
      : network(what.network()),
        first(network.model, settings, what.first.optimizer, objective_of(network, what.first)),
        second(network.model, settings, what.second.optimizer, objective_of(network, what.second)) {
  }
  Network network;
  TrainingModel first, second;
};

Trace train(const Case& what, const Options& settings) {
  Two two(what, settings);
  Trace trace;
  for (std::int64_t round = 0; round < rounds; ++round)
    for (TrainingModel* training : {&two.first, &two.second})
      trace.losses.push_back(training->step(inputs(*training, round)).loss);
  for (const ParameterInfo& parameter : two.network.model.parameters())
    trace.weights.push_back({parameter.name, two.network.model.weight(parameter.name)});
  return trace;
}

bool is_trained_by(const Part& part, const std::string& name) {
  for (const std::string& pattern : part.trains)
    if (name.starts_with(pattern.substr(0, pattern.size() - 1))) return true;
  return false;
}

/// A ByHand is one training with a model of its own, all of which it trains. What it trains beyond
/// its part is overwritten when it takes the weights of the other training.
class ByHand {
 public:
  ByHand(const Case& what, const Part& part)
      : part_(part),
        model_(made(what, part)),
        training_(model_, options("B1,B2"), part.optimizer) {}

  Tensor step(std::int64_t round) { return training_.step(inputs(training_, round)).loss; }

  /// Copies the weights that `other` trains to this model.
  void take_from(const ByHand& other) {
    for (const ParameterInfo& parameter : model_.parameters())
      if (is_trained_by(other.part_, parameter.name))
        model_.set_weight(parameter.name, other.model_.weight(parameter.name));
  }
  const Model& model() const { return model_; }

 private:
  static Model made(const Case& what, const Part& part) {
    Network network = what.network();
    network.model.loss(network.*part.loss);
    return network.model;
  }

  const Part& part_;
  Model model_;
  TrainingModel training_;
};

/// Trains on one stage by two models that hand their weights over.
Trace trained_by_hand(const Case& what) {
  ByHand first(what, what.first), second(what, what.second);
  Trace trace;
  for (std::int64_t round = 0; round < rounds; ++round) {
    trace.losses.push_back(first.step(round));
    second.take_from(first);
    trace.losses.push_back(second.step(round));
    first.take_from(second);
  }
  for (const ParameterInfo& parameter : first.model().parameters()) {
    const bool is_first = is_trained_by(what.first, parameter.name);
    // The last of all steps was the second part's.
    const Model& newest =
        is_first && !is_trained_by(what.second, parameter.name) ? first.model() : second.model();
    trace.weights.push_back({parameter.name, newest.weight(parameter.name)});
  }
  return trace;
}

class Objectives : public ::testing::TestWithParam<Case> {};

TEST_P(Objectives, GiveTheBitsOfSeparateModelsThatHandOverTheirWeights) {
  const Trace expected = trained_by_hand(GetParam());
  for (const char* stages : {"B1,B2", "B1|B2"})
    EXPECT_EQ(first_difference(train(GetParam(), options(stages)), expected), "") << stages;
  Options recomputed = options("B1|B2");
  recomputed.training.recompute = true;
  EXPECT_EQ(first_difference(train(GetParam(), recomputed), expected), "");
  EXPECT_FALSE(same_bits(expected.losses.front(), expected.losses.at(2))) << "something is learned";
}

TEST_P(Objectives, AskForNoOtherInputAndReturnNoOtherOutput) {
  Two two(GetParam(), options("B1|B2"));
  const auto expect = [](TrainingModel& training, const Part& part) {
    EXPECT_EQ(training.inputs(), part.inputs);
    std::vector<std::string> outputs;
    for (const NamedTensor& output : training.step(inputs(training, 0)).outputs)
      outputs.push_back(output.name);
    EXPECT_EQ(outputs, part.outputs);
  };
  expect(two.first, GetParam().first);
  expect(two.second, GetParam().second);
}

TEST_P(Objectives, LeaveOtherParametersAloneAndKeepNoStateForThem) {
  Two two(GetParam(), options("B1|B2"));
  const Model& model = two.network.model;
  const auto expect = [&](TrainingModel& training, const Part& part) {
    const Model before = model.clone();
    training.step(inputs(training, 0));
    for (const ParameterInfo& parameter : model.parameters())
      EXPECT_EQ(same_bits(model.weight(parameter.name), before.weight(parameter.name)),
                !is_trained_by(part, parameter.name))
          << parameter.name;
    for (const NamedTensor& state : training.optimizer_state())
      EXPECT_TRUE(state.name == "step" || is_trained_by(part, state.name)) << state.name;
  };
  expect(two.first, GetParam().first);
  expect(two.second, GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(All, Objectives, ::testing::ValuesIn(cases), [](const auto& info) {
  return std::string(info.index == 0 ? "Gan" : "ActorAndCritic");
});

TEST(Objective, WeightsAreCopiedOnlyWhenAnotherTrainingHasChangedThem) {
  int copied = 0;
  Options settings = options("B1|B2");
  settings.runtime.log_level = LogLevel::debug;
  settings.runtime.log = [&](std::string_view line) {
    copied += line.find("weights copied to the IPUs") != line.npos;
  };
  Two two(cases[0], settings);
  const auto step = [&](TrainingModel& training) {
    training.step(inputs(training, 0));
    return std::exchange(copied, 0);
  };
  EXPECT_EQ(step(two.first), 1);
  EXPECT_EQ(step(two.first), 0);
  EXPECT_EQ(step(two.second), 1);
  EXPECT_EQ(step(two.first), 1);
  EXPECT_EQ(step(two.first), 0);
}

TEST(Objective, WithoutALossOrPatternsIsTheModelsOwn) {
  Network network = actor_and_critic();
  network.model.loss(network.second_loss);
  TrainingModel all(network.model, options("B1|B2"), {}, Objective());
  EXPECT_EQ(all.inputs(), (std::vector<std::string>{"state", "reward"}));
  EXPECT_EQ(all.outline().outputs.size(), 2u);
  TrainingModel other(network.model, options("B1|B2"), {}, {.loss = network.first_loss});
  EXPECT_EQ(other.inputs(), (std::vector<std::string>{"state", "action", "advantage"}));
}

TEST(Objective, LeavesFrozenParametersFrozen) {
  Network network = gan();
  network.model.freeze("g.hidden.*");
  TrainingModel training(network.model, options("B1|B2"), Sgd{.learning_rate = 1},
                         objective_of(network, cases[0].second));
  const Model before = network.model.clone();
  training.step(inputs(training, 0));
  for (const ParameterInfo& parameter : before.parameters())
    EXPECT_EQ(same_bits(network.model.weight(parameter.name), before.weight(parameter.name)),
              !parameter.name.starts_with("g.out"))
        << parameter.name;
}

TEST(Objective, IsRefusedIfItNamesWhatIsNotThere) {
  const Network network = gan();
  const auto text = [&](Errc code, const Objective& objective) {
    return refusal(code, [&] { TrainingModel(network.model, options("B1|B2"), {}, objective); });
  };
  EXPECT_EQ(text(Errc::invalid_argument, {.loss = network.first_loss, .trains = {"d.*", "h.*"}}),
            "objective.trains[1]: there is no parameter \"h.*\"; there are: g.hidden.weight, "
            "g.hidden.bias, g.out.weight, g.out.bias, d.hidden, d.out");
  EXPECT_EQ(text(Errc::invalid_argument, {.loss = network.first_loss, .outputs = {"fakes"}}),
            "objective.outputs[0]: there is no output \"fakes\"; did you mean \"fake\"?");
  EXPECT_NE(text(Errc::invalid_model, {.loss = gan().first_loss}).find("objective.loss: expected"),
            std::string::npos);
  EXPECT_EQ(
      text(Errc::invalid_model, {.loss = network.second_loss, .trains = {}}),
      "model \"gan\": the loss depends on no parameter that is trained: \"g.hidden.weight\" is "
      "frozen, or Objective::trains leaves it out; unfreeze() it, or add it there");
  EXPECT_NE(text(Errc::invalid_model, {}).find("has several independent losses"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::testing
