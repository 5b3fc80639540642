// Tests run an optimizer rule over some steps with these classes and functions, from weights and
// gradients that are given or drawn.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "graph/plan/shards.hpp"

namespace penstock::graph {

using Vector = std::vector<float>;

/// A Parameter is a parameter with its state, which one rule updates as a whole.
class Parameter {
 public:
  Parameter(const OptimizerRule& rule, const Hyper& hyper, Vector initial)
      : weight(std::move(initial)), rule_(rule) {
    for (const StateTensor& tensor : rule.state(hyper))
      state_.emplace_back(weight.size(), tensor.initial);
  }

  void update(const Hyper& hyper, const Vector& gradient) {
    update(hyper, SummedGradient{.sum = gradient.data()});
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

/// A Sharded is a parameter with its state, which one rule updates in as many shards as there are
/// replicas.
class Sharded {
 public:
  Sharded(const OptimizerRule& rule, const Hyper& hyper, Vector initial, std::int64_t replicas)
      : weight(std::move(initial)), rule_(*rule.in_shards), replicas_(replicas) {
    for (const StateTensor& tensor : rule.state(hyper))
      state_.emplace_back(weight.size(), tensor.initial);
  }

  void update(const Hyper& hyper, const Vector& gradient) {
    ++step_;
    const auto elements = std::ssize(weight);
    const double squared_weights = squared_norm(weight);
    std::vector<NormPart> parts(static_cast<std::size_t>(replicas_));
    std::vector<const NormPart*> all;
    for_each_shard([&](const Part& shard, std::span<float> w, const auto& state) {
      NormPart& part = parts[all.size()];
      all.push_back(&part);
      const auto of = [&](std::span<float> tensor, const Part& block) {
        return tensor.subspan(static_cast<std::size_t>(block.begin - shard.begin),
                              static_cast<std::size_t>(block.end - block.begin));
      };
      const auto state_of = [&](const Part& block) {
        std::vector<std::span<float>> own;
        for (const std::span<float> tensor : state) own.push_back(of(tensor, block));
        return own;
      };
      const auto follow = [&](const Part& block) {
        const SummedGradient own{.sum = gradient.data() + block.begin};
        return rule_.follow(hyper, step_, of(w, block), own, state_of(block));
      };
      const auto directions = [&](const Part& block, float* to) {
        follow(block);
        rule_.directions(hyper, step_, of(w, block), state_of(block), to);
      };
      norm_part(shard, elements, {follow, directions}, part);
    });
    const double squared_directions = squared_norm(all, elements);
    for_each_shard([&](const Part&, std::span<float> w, const auto& state) {
      rule_.move(hyper, step_, squared_weights, squared_directions, w, state);
    });
  }

  Vector weight;

 private:
  template <class Work>
  void for_each_shard(Work work) {
    for (std::int64_t replica = 0; replica < replicas_; ++replica) {
      const Part shard = shard_of(std::ssize(weight), replicas_, replica);
      const auto of = [&](Vector& tensor) {
        return std::span(tensor).subspan(static_cast<std::size_t>(shard.begin),
                                         static_cast<std::size_t>(shard.end - shard.begin));
      };
      std::vector<std::span<float>> state;
      for (Vector& tensor : state_) state.push_back(of(tensor));
      work(shard, of(weight), state);
    }
  }

  const ShardedRule& rule_;
  std::int64_t replicas_;
  std::vector<Vector> state_;
  std::int64_t step_ = 0;
};

/// Returns the weights after one update per gradient.
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
