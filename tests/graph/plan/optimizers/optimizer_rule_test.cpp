#include "graph/plan/optimizers/optimizer_rule.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "tests/graph/plan/optimizers/run.hpp"

namespace penstock::graph {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(OptimizerRule, RmsPropKeepsAChangedLearningRateOutOfTheBufferUnlessAsTensorFlow) {
  for (const bool tf_variant : {false, true}) {
    Hyper hyper{
        .learning_rate = 1, .momentum = 0.5, .eps = 0, .alpha = 0, .tf_variant = tf_variant};
    Parameter parameter(find_optimizer_rule("rmsprop"), hyper, {0});
    parameter.update(hyper, {1});
    hyper.learning_rate = 0.5;
    parameter.update(hyper, {1});
    EXPECT_FLOAT_EQ(parameter.weight[0], tf_variant ? -2 : -1.75);
  }
}

TEST(OptimizerRule, StateFollowsTheConstants) {
  const auto names = [](const char* rule, const Hyper& hyper) {
    std::string text;
    for (const StateTensor& tensor : find_optimizer_rule(rule).state(hyper))
      text +=
          std::string(tensor.name) + "=" + std::to_string(static_cast<int>(tensor.initial)) + " ";
    return text;
  };
  EXPECT_EQ(names("sgd", {}), "");
  EXPECT_EQ(names("sgd", {.momentum = 0.9}), "momentum_buffer=0 ");
  EXPECT_EQ(names("sgd", {.momentum = 0.9, .keras_variant = true}), "momentum=0 ");
  for (const char* rule : {"adam", "adamw", "lamb"})
    EXPECT_EQ(names(rule, {}), "exp_avg=0 exp_avg_sq=0 ");
  EXPECT_EQ(names("rmsprop", {}), "square_avg=0 ");
  EXPECT_EQ(names("rmsprop", {.momentum = 0.9, .centered = true, .tf_variant = true}),
            "rms=1 mg=0 momentum=0 ");
  EXPECT_EQ(names("rmsprop", {.momentum = 0.9, .centered = true}),
            "square_avg=0 grad_avg=0 momentum_buffer=0 ");
}

TEST(OptimizerRule, ALearningRateOfZeroLeavesTheWeightsAlone) {
  std::mt19937 random(1);
  const Vector weight = drawn(random, 100);
  const std::vector<Vector> gradients{drawn(random, 100), drawn(random, 100)};
  for (const OptimizerRule* rule : all_optimizer_rules())
    for (const double momentum : {0.0, 0.9}) {
      const Hyper hyper{.learning_rate = 0, .momentum = momentum, .weight_decay = 0.1};
      EXPECT_EQ(updated(*rule, hyper, weight, gradients), weight) << rule->name;
    }
}

TEST(OptimizerRule, BitsDoNotDependOnWhereAnElementStands) {
  constexpr std::size_t size = 1000;
  std::mt19937 random(2);
  const Vector weight = drawn(random, size);
  const std::vector<Vector> gradients{drawn(random, size), drawn(random, size)};
  const auto tail = [](const Vector& v, std::size_t cut) {
    return Vector(v.begin() + static_cast<std::ptrdiff_t>(cut), v.end());
  };
  const Hyper hyper{.momentum = 0.9, .weight_decay = 0.1, .centered = true};
  for (const char* rule : {"sgd", "adam", "adamw", "rmsprop"})
    for (const std::size_t cut : {1u, 7u, 500u, 993u, 999u}) {
      const Vector whole = updated(find_optimizer_rule(rule), hyper, weight, gradients);
      const Vector part = updated(find_optimizer_rule(rule), hyper, tail(weight, cut),
                                  {tail(gradients[0], cut), tail(gradients[1], cut)});
      EXPECT_EQ(std::memcmp(part.data(), whole.data() + cut, part.size() * sizeof(float)), 0)
          << rule << " cut at " << cut;
    }
}

/// The first variant has nothing optional, the second one has momentum, weight decay and centering,
/// and the third one has Nesterov momentum.
const Hyper variants[] = {{},
                          {.momentum = 0.9, .weight_decay = 0.1, .centered = true},
                          {.momentum = 0.9, .nesterov = true}};

TEST(OptimizerRule, ScalesThenClipsTheSum) {
  constexpr std::size_t size = 8192 + 19;
  constexpr float scale = 0.1f, clip = 0.3f;
  std::mt19937 random(5);
  const Vector weight = drawn(random, size), sum = drawn(random, size);
  Vector gradient = sum;
  for (float& g : gradient) g = g * scale * clip;
  for (const OptimizerRule* rule : all_optimizer_rules())
    for (const Hyper& hyper : variants) {
      Parameter parameter(*rule, hyper, weight);
      parameter.update(hyper, SummedGradient{sum.data(), scale, clip});
      EXPECT_EQ(parameter.weight, updated(*rule, hyper, weight, {gradient})) << rule->name;
    }
}

struct Refused {
  const char* rule;
  Hyper hyper;
  const char* text;
};

const Refused refused[] = {
    {"adamw", {.learning_rate = -1}, "adamw.learning_rate: expected 0 or more, got -1"},
    {"sgd", {.learning_rate = nan}, "sgd.learning_rate: expected 0 or more, got nan"},
    {"sgd",
     {.learning_rate = 1e39},
     "sgd.learning_rate: expected 0 to 3.4028234663852886e+38, got 1e+39"},
    {"sgd", {.momentum = -0.5}, "sgd.momentum: expected 0 or more, got -0.5"},
    {"sgd", {.dampening = infinity}, "sgd.dampening: expected 0 or more, got inf"},
    {"lamb", {.weight_decay = -0.25}, "lamb.weight_decay: expected 0 or more, got -0.25"},
    {"adam", {.beta1 = 1}, "adam.beta1: expected 0 or more and below 1, got 1"},
    {"adam", {.beta2 = -0.5}, "adam.beta2: expected 0 or more and below 1, got -0.5"},
    {"adam", {.beta2 = nan}, "adam.beta2: expected 0 or more and below 1, got nan"},
    {"adam", {.eps = -1e-8}, "adam.eps: expected 0 or more, got -1e-08"},
    {"rmsprop", {.alpha = 1.5}, "rmsprop.alpha: expected 0 or more and below 1, got 1.5"},
    {"lamb", {.max_weight_norm = 0}, "lamb.max_weight_norm: expected more than 0, got 0"},
    {"sgd",
     {.nesterov = true},
     "sgd.nesterov: expected a momentum of more than 0 and a dampening of 0, got 0 and 0"},
    {"sgd",
     {.momentum = 0.5, .dampening = 0.25, .nesterov = true},
     "sgd.nesterov: expected a momentum of more than 0 and a dampening of 0, got 0.5 and 0.25"},
};

TEST(OptimizerRule, RefusesConstantsOutOfRangeByName) {
  for (const auto& [rule, hyper, text] : refused) try {
      validate(find_optimizer_rule(rule), hyper);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::invalid_argument);
      EXPECT_STREQ(error.what(), text);
    }
}

TEST(OptimizerRule, AcceptsDefaultsAndZeros) {
  const Hyper zeros{.learning_rate = 0, .beta1 = 0, .beta2 = 0, .eps = 0, .alpha = 0};
  for (const OptimizerRule* rule : all_optimizer_rules()) {
    EXPECT_NO_THROW(validate(*rule, {}));
    EXPECT_NO_THROW(validate(*rule, zeros));
  }
  EXPECT_NO_THROW(validate(find_optimizer_rule("sgd"), {.momentum = 0.9, .nesterov = true}));
}

TEST(OptimizerRule, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    find_optimizer_rule("nonesuch");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "there is no optimizer named \"nonesuch\"; there are adam, adamw, lamb, rmsprop, sgd");
  }
}

TEST(OptimizerRules, GiveEachElementTheSameBitsPieceByPiece) {
  constexpr std::size_t size = 100, cut = 48;
  std::mt19937 random(7);
  const Vector initial = drawn(random, size), gradient = drawn(random, size);
  const Hyper hyper{.momentum = 0.9, .weight_decay = 0.01};
  for (const OptimizerRule* rule : all_optimizer_rules()) {
    const auto piece = [&](const Vector& of, std::size_t begin, std::size_t end) {
      return Vector(of.begin() + static_cast<std::ptrdiff_t>(begin),
                    of.begin() + static_cast<std::ptrdiff_t>(end));
    };
    const auto pieces = [&](std::size_t begin, std::size_t end) {
      return updated(*rule, hyper, piece(initial, begin, end),
                     {piece(gradient, begin, end), piece(gradient, begin, end)});
    };
    Vector joined = pieces(0, cut);
    const Vector rest = pieces(cut, size);
    joined.insert(joined.end(), rest.begin(), rest.end());
    EXPECT_EQ(joined == pieces(0, size), rule->elementwise) << rule->name;
  }
}

// F12 of docs/reference.md: the velocity of the Keras variant has the learning rates of its steps
// in it, so that a new learning rate does not change earlier steps.
TEST(Sgd, AsKerasKeepsEachStepsLearningRate) {
  for (const bool keras : {false, true}) {
    Hyper hyper{.learning_rate = 1, .momentum = 0.5, .keras_variant = keras};
    Parameter parameter(find_optimizer_rule("sgd"), hyper, {0});
    parameter.update(hyper, {1});
    hyper.learning_rate = 0;
    parameter.update(hyper, {1});
    EXPECT_EQ(parameter.weight[0], keras ? -1.5f : -1.0f);
  }
}

// 4.4 of docs/reference.md: the two steps of a rule, over all shards, give the update of the whole
// parameter.
TEST(OptimizerRule, WithNormsGivesTheSameBitsInShards) {
  std::mt19937 random(8);
  int rules = 0;
  for (const OptimizerRule* rule : all_optimizer_rules()) {
    EXPECT_EQ(rule->elementwise, rule->in_shards == nullptr) << rule->name;
    if (!rule->in_shards) continue;
    ++rules;
    for (const std::int64_t size : {7, 8192, 20'011})
      for (const std::int64_t replicas : {2, 3, 5}) {
        const Hyper hyper{.learning_rate = 0.1, .weight_decay = 0.01};
        Parameter whole(*rule, hyper, drawn(random, static_cast<std::size_t>(size)));
        Sharded sharded(*rule, hyper, whole.weight, replicas);
        for (int step = 0; step < 3; ++step) {
          const Vector gradient = drawn(random, static_cast<std::size_t>(size));
          whole.update(hyper, gradient);
          sharded.update(hyper, gradient);
          ASSERT_EQ(whole.weight, sharded.weight) << size << " elements in " << replicas;
        }
      }
  }
  EXPECT_EQ(rules, 1);
}

}  // namespace
}  // namespace penstock::graph
