// These tests compare every rule, with every combination of the rule's options, with the textbook's
// formulas in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "tests/graph/plan/optimizers/run.hpp"

namespace penstock::graph {
namespace {

using Doubles = std::vector<double>;

double norm(const Doubles& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// A Textbook has one parameter and its state in double, and updates them by the textbook's
/// formulas.
struct Textbook {
  Doubles w;
  Doubles m = Doubles(w.size(), 0);
  Doubles v = Doubles(w.size(), 0);
  Doubles u = Doubles(w.size(), 0);
  double t = 0;

  void keras_sgd(const Hyper& h, const Doubles& gradient) {
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double step = h.learning_rate * (gradient[i] + h.weight_decay * w[i]);
      v[i] = h.momentum * v[i] - step;
      w[i] += h.nesterov ? h.momentum * v[i] - step : v[i];
    }
  }

  void sgd(const Hyper& h, const Doubles& gradient) {
    if (h.keras_variant) return keras_sgd(h, gradient);
    const bool dampened = h.dampen_first_step || (h.momentum != 0 && t > 1);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double g = gradient[i] + h.weight_decay * w[i];
      v[i] = h.momentum * v[i] + g * (dampened ? 1 - h.dampening : 1);
      w[i] -= h.learning_rate * (h.nesterov ? g + h.momentum * v[i] : v[i]);
    }
  }

  double adam_ratio(const Hyper& h, std::size_t i, double g) {
    m[i] = h.beta1 * m[i] + (1 - h.beta1) * g;
    v[i] = h.beta2 * v[i] + (1 - h.beta2) * g * g;
    if (!h.bias_correction) return m[i] / (std::sqrt(v[i]) + h.eps);
    return m[i] / (1 - std::pow(h.beta1, t)) /
           (std::sqrt(v[i] / (1 - std::pow(h.beta2, t))) + h.eps);
  }

  void adam(const Hyper& h, const Doubles& gradient) {
    for (std::size_t i = 0; i < w.size(); ++i)
      w[i] -= h.learning_rate * adam_ratio(h, i, gradient[i] + h.weight_decay * w[i]);
  }

  Doubles decoupled_direction(const Hyper& h, const Doubles& gradient) {
    Doubles x(w.size());
    for (std::size_t i = 0; i < w.size(); ++i)
      x[i] = adam_ratio(h, i, gradient[i]) + h.weight_decay * w[i];
    return x;
  }

  void adamw(const Hyper& h, const Doubles& gradient) {
    const Doubles x = decoupled_direction(h, gradient);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= h.learning_rate * x[i];
  }

  void lamb(const Hyper& h, const Doubles& gradient) {
    const Doubles x = decoupled_direction(h, gradient);
    const double trust =
        norm(w) == 0 || norm(x) == 0 ? 1 : std::min(norm(w), h.max_weight_norm) / norm(x);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= h.learning_rate * trust * x[i];
  }

  void rmsprop(const Hyper& h, const Doubles& gradient) {
    if (t == 1 && h.tf_variant) v.assign(v.size(), 1);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double g = gradient[i] + h.weight_decay * w[i];
      v[i] = h.alpha * v[i] + (1 - h.alpha) * g * g;
      m[i] = h.alpha * m[i] + (1 - h.alpha) * g;
      const double variance = h.centered ? v[i] - m[i] * m[i] : v[i];
      const double root = h.tf_variant ? std::sqrt(variance + h.eps) : std::sqrt(variance) + h.eps;
      u[i] = h.momentum * u[i] + (h.tf_variant ? h.learning_rate : 1) * g / root;
      w[i] -= (h.tf_variant ? 1 : h.learning_rate) * u[i];
    }
  }
};

const std::map<std::string_view, void (Textbook::*)(const Hyper&, const Doubles&)> textbook{
    {"adam", &Textbook::adam},       {"adamw", &Textbook::adamw}, {"lamb", &Textbook::lamb},
    {"rmsprop", &Textbook::rmsprop}, {"sgd", &Textbook::sgd},
};

template <class Value>
std::vector<Hyper> crossed(const std::vector<Hyper>& hypers, Value Hyper::*option, Value other) {
  std::vector<Hyper> result = hypers;
  for (Hyper hyper : hypers) {
    hyper.*option = other;
    result.push_back(hyper);
  }
  return result;
}

/// Returns every combination of the options that the rule knows.
std::vector<Hyper> combinations(std::string_view rule) {
  std::vector<Hyper> hypers = crossed({{.learning_rate = 0.01}}, &Hyper::weight_decay, 0.1);
  if (rule == "sgd") {
    hypers = crossed(crossed(hypers, &Hyper::momentum, 0.9), &Hyper::dampening, 0.3);
    hypers = crossed(crossed(hypers, &Hyper::nesterov, true), &Hyper::dampen_first_step, true);
    hypers = crossed(hypers, &Hyper::keras_variant, true);
    std::erase_if(hypers, [](const Hyper& hyper) {
      return (hyper.nesterov && (hyper.momentum == 0 || hyper.dampening != 0)) ||
             (hyper.keras_variant && hyper.dampening != 0);
    });
    return hypers;
  }
  hypers = crossed(hypers, &Hyper::eps, 0.05);
  if (rule == "rmsprop") {
    hypers = crossed(crossed(hypers, &Hyper::momentum, 0.9), &Hyper::alpha, 0.5);
    return crossed(crossed(hypers, &Hyper::centered, true), &Hyper::tf_variant, true);
  }
  if (rule == "lamb") hypers = crossed(hypers, &Hyper::max_weight_norm, 2.0);
  hypers = crossed(crossed(hypers, &Hyper::beta1, 0.5), &Hyper::beta2, 0.9);
  return crossed(hypers, &Hyper::bias_correction, false);
}

std::string describe(const OptimizerRule& rule, const Hyper& h) {
  std::ostringstream text;
  text << rule.name << " momentum " << h.momentum << " dampening " << h.dampening << " decay "
       << h.weight_decay << " betas " << h.beta1 << " " << h.beta2 << " eps " << h.eps << " alpha "
       << h.alpha << " max norm " << h.max_weight_norm << " nesterov " << h.nesterov
       << " bias correction " << h.bias_correction << " centered " << h.centered << " tf "
       << h.tf_variant << " dampen first " << h.dampen_first_step << " keras " << h.keras_variant;
  return text.str();
}

/// This size has whole vectors, a rest, and more than one block of a norm.
constexpr std::size_t size = 8192 + 100 + 3;
constexpr int steps = 8;

class Trajectory : public testing::TestWithParam<const OptimizerRule*> {};

// F10, F11 and 2.3 of docs/reference.md: every rule is compared with double precision over many
// steps.
TEST_P(Trajectory, FollowsTheTextbookForEveryCombinationOfOptions) {
  const OptimizerRule& rule = *GetParam();
  for (Hyper hyper : combinations(rule.name)) {
    SCOPED_TRACE(describe(rule, hyper));
    std::mt19937 random(3);
    Parameter parameter(rule, hyper, drawn(random, size));
    Textbook expected{.w = Doubles(parameter.weight.begin(), parameter.weight.end())};
    for (int step = 1; step <= steps; ++step) {
      if (step == 5) hyper.learning_rate /= 2;
      const Vector gradient = drawn(random, size);
      parameter.update(hyper, gradient);
      expected.t = step;
      (expected.*textbook.at(rule.name))(hyper, Doubles(gradient.begin(), gradient.end()));
    }
    double error = 0;
    for (std::size_t i = 0; i < size; ++i)
      error = std::max(error, std::abs(parameter.weight[i] - expected.w[i]));
    EXPECT_LT(error, 4e-6);
  }
}

TEST_P(Trajectory, DiffersForEveryCombinationOfOptionsThatMatters) {
  const OptimizerRule& rule = *GetParam();
  std::set<Vector> results;
  std::size_t distinct = 0;
  for (const Hyper& hyper : combinations(rule.name)) {
    // Combinations that give the weights of another one are left out. Without dampening, it does
    // not matter whether the first step is dampened. Keras's SGD equals the other one as long as
    // the learning rate does not change. Without momentum, dampening only matters in the first
    // step. LAMB's trust ratio undoes whatever scales a whole direction, as bias correction does.
    if (hyper.dampen_first_step && hyper.dampening == 0) continue;
    if (hyper.keras_variant) continue;
    if (hyper.dampening != 0 && hyper.momentum == 0 && !hyper.dampen_first_step) continue;
    if (rule.name == "lamb" && hyper.weight_decay == 0 && !hyper.bias_correction) continue;
    ++distinct;
    std::mt19937 random(4);
    const Vector weight = drawn(random, 40);
    results.insert(updated(rule, hyper, weight, {drawn(random, 40), drawn(random, 40)}));
  }
  EXPECT_EQ(results.size(), distinct);
}

INSTANTIATE_TEST_SUITE_P(Optimizer, Trajectory,
                         testing::ValuesIn(all_optimizer_rules().begin(),
                                           all_optimizer_rules().end()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace penstock::graph
