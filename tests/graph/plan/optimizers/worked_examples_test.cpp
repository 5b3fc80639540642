// These tests compare updates by every rule with updates that are computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <vector>

#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "tests/graph/plan/optimizers/run.hpp"

namespace penstock::graph {
namespace {

/// A Worked has the weights after one update per gradient, computed by hand.
struct Worked {
  const char* name;
  const char* rule;
  Hyper hyper;
  Vector weight;
  std::vector<Vector> gradients;
  std::vector<double> expected;
};

void PrintTo(const Worked& worked, std::ostream* os) {
  *os << worked.name;
}

const double root2 = std::sqrt(2.0);

const Worked worked_examples[] = {
    {"SgdDescends", "sgd", {.learning_rate = 0.5}, {1, -1}, {{2, 4}}, {0, -3}},
    {"SgdAddsTheDecayToTheGradient",
     "sgd",
     {.learning_rate = 1, .weight_decay = 0.5},
     {2},
     {{1}},
     {0}},
    {"SgdIgnoresDampeningWithoutMomentum",
     "sgd",
     {.learning_rate = 1, .dampening = 0.5},
     {0},
     {{1}},
     {-1}},
    {"SgdAsPopTorchDampensWithoutMomentum",
     "sgd",
     {.learning_rate = 1, .dampening = 0.5, .dampen_first_step = true},
     {0},
     {{1}},
     {-0.5}},
    {"SgdDoesNotDampenTheFirstStep",
     "sgd",
     {.learning_rate = 1, .momentum = 0.5, .dampening = 0.5},
     {0},
     {{1}, {1}},
     {-2}},
    {"SgdAsPopTorchDampensTheFirstStep",
     "sgd",
     {.learning_rate = 1, .momentum = 0.5, .dampening = 0.5, .dampen_first_step = true},
     {0},
     {{1}, {1}},
     {-1.25}},
    {"SgdLooksAheadWithNesterov",
     "sgd",
     {.learning_rate = 1, .momentum = 0.5, .nesterov = true},
     {0},
     {{1}, {1}},
     {-3.25}},
    // F12 of docs/reference.md: the first step moves the weight by 2, and the second one by
    // 0.5*2 + 2.
    {"SgdAsKerasIsTheSameWhileTheLearningRateIs",
     "sgd",
     {.learning_rate = 2, .momentum = 0.5, .keras_variant = true},
     {0},
     {{1}, {1}},
     {-5}},
    {"SgdAsKerasLooksAheadWithNesterov",
     "sgd",
     {.learning_rate = 2, .momentum = 0.5, .nesterov = true, .keras_variant = true},
     {0},
     {{1}},
     {-3}},
    {"AdamsFirstStepIsTheLearningRate",
     "adam",
     {.learning_rate = 0.25, .eps = 0},
     {0, 0},
     {{3, -1e-4f}},
     {-0.25, 0.25}},
    {"AdamWithoutBiasCorrectionStartsFromTheBareMoments",
     "adam",
     {.learning_rate = 1, .eps = 0, .bias_correction = false},
     {0},
     {{1}},
     {-0.1 / std::sqrt(0.001)}},
    {"AdamAddsEpsToTheCorrectedRoot", "adam", {.learning_rate = 1, .eps = 1}, {0}, {{1}}, {-0.5}},
    {"AdamDecaysThroughTheGradient",
     "adam",
     {.learning_rate = 0.5, .weight_decay = 0.25, .eps = 0},
     {2},
     {{0}},
     {1.5}},
    {"AdamWDecaysTheWeightItself",
     "adamw",
     {.learning_rate = 0.5, .weight_decay = 0.25},
     {2},
     {{0}},
     {1.75}},
    {"AdamWWithoutBiasCorrectionDoesNotCorrect",
     "adamw",
     {.learning_rate = 1, .eps = 0, .bias_correction = false},
     {0},
     {{1}},
     {-0.1 / std::sqrt(0.001)}},
    {"RmsPropAddsEpsToTheRoot",
     "rmsprop",
     {.learning_rate = 1, .eps = 0.5, .alpha = 0.75},
     {0},
     {{1}},
     {-1}},
    {"RmsPropAsTensorFlowStartsAtOneWithEpsInTheRoot",
     "rmsprop",
     {.learning_rate = 1, .eps = 0.44, .alpha = 0.75, .tf_variant = true},
     {0},
     {{1}},
     {-1 / 1.2}},
    {"RmsPropCenteredDividesByTheStandardDeviation",
     "rmsprop",
     {.learning_rate = 1, .eps = 0, .alpha = 0.75, .centered = true},
     {0},
     {{1}},
     {-1 / std::sqrt(0.25 - 0.0625)}},
    {"RmsPropCenteredNeverTakesTheRootOfANegativeNumber",
     "rmsprop",
     {.learning_rate = 1, .eps = 0.5, .alpha = 0, .centered = true},
     {0},
     {{0.1f}},
     {-0.2}},
    {"RmsPropGathersMomentum",
     "rmsprop",
     {.learning_rate = 1, .momentum = 0.5, .eps = 0, .alpha = 0},
     {0},
     {{1}, {1}},
     {-2.5}},
    {"LambScalesTheStepByTheTrustRatio",
     "lamb",
     {.learning_rate = 0.1, .eps = 0},
     {3, 4},
     {{1, 1}},
     {3 - 0.5 / root2, 4 - 0.5 / root2}},
    {"LambLimitsTheWeightNorm",
     "lamb",
     {.learning_rate = 0.1, .eps = 0, .max_weight_norm = 1},
     {3, 4},
     {{1, 1}},
     {3 - 0.1 / root2, 4 - 0.1 / root2}},
    {"LambTrustsZeroWeightsByOne",
     "lamb",
     {.learning_rate = 0.1, .eps = 0},
     {0, 0},
     {{1, -2}},
     {-0.1, 0.1}},
    {"LambLeavesWeightsWithoutADirectionAlone",
     "lamb",
     {.learning_rate = 0.1, .eps = 1},
     {3, 4},
     {{0, 0}},
     {3, 4}},
    {"LambDecaysAsPartOfTheDirection",
     "lamb",
     {.learning_rate = 0.5, .weight_decay = 0.25, .eps = 1},
     {3, 4},
     {{0, 0}},
     {1.5, 2}},
};

class WorkedExample : public testing::TestWithParam<Worked> {};

// F10 and F11 of docs/reference.md: the examples are one or two steps of each rule, also in
// PopTorch's form if a switch turns it on.
TEST_P(WorkedExample, GivesTheWeightsWorkedOutByHand) {
  const auto& [name, rule, hyper, weight, gradients, expected] = GetParam();
  const Vector result = updated(find_optimizer_rule(rule), hyper, weight, gradients);
  ASSERT_EQ(result.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(result[i], expected[i], 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Optimizer, WorkedExample, testing::ValuesIn(worked_examples),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace penstock::graph
