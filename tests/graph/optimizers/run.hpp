// Runs an optimizer rule over some steps, from weights and gradients given or drawn. Tests only.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "graph/optimizer_rule.hpp"

namespace penstock::graph {

using Vector = std::vector<float>;

/// A parameter with its state under one rule.
class Parameter {
 public:
  Parameter(const OptimizerRule& rule, const Hyper& hyper, Vector initial)
      : weight(std::move(initial)), rule_(rule) {
    for (const StateTensor& tensor : rule.state(hyper))
      state_.emplace_back(weight.size(), tensor.initial);
  }

  void update(const Hyper& hyper, const Vector& gradient) {
    Vector sum = gradient;
    update(hyper, SummedGradient{.sum = sum.data(), .cleared = sum.data()});
  }
  void update(const Hyper& hyper, const SummedGradient& gradient) {
    std::vector<std::span<float>> state(state_.begin(), state_.end());
    rule_.update(hyper, ++step_, weight, gradient, state);
  }

  Vector weight;

 private:
  const OptimizerRule& rule_;
  std::vector<Vector> state_;
  std::int64_t step_ = 0;
};

/// The weights after one update per gradient.
inline Vector updated(const OptimizerRule& rule, const Hyper& hyper, Vector weight,
                      const std::vector<Vector>& gradients) {
  Parameter parameter(rule, hyper, std::move(weight));
  for (const Vector& gradient : gradients) parameter.update(hyper, gradient);
  return parameter.weight;
}

inline Vector drawn(std::mt19937& random, std::size_t size) {
  std::normal_distribution<float> draw;
  Vector values(size);
  for (float& value : values) value = draw(random);
  return values;
}

}  // namespace penstock::graph
