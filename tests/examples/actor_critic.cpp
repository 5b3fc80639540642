// This program learns to cross a windy corridor by an actor and a critic. The actor chooses a move
// in each cell, and the critic says how much reward it expects from there on. Both are parts of one
// model, and each has a training of its own; many walkers gather what they learn from.
#include <array>
#include <cmath>
#include <iostream>
#include <penstock/penstock.hpp>
#include <random>
#include <vector>

using namespace penstock;

constexpr std::int64_t cells = 8, moves = 2, walkers = 64, steps = 24;

struct ActorCritic {
  Model model;
  Value actor_loss, critic_loss;
};

ActorCritic network() {
  Model model("walk", 1);
  const Value cell = model.input("cell", {cells}), move = model.labels("move");
  const Value advantage = model.input("advantage", {}), reward = model.input("reward", {1});
  const Value hidden = model.tanh(model.linear("body", cell, 16));
  const Value scores = model.linear("actor", hidden, moves);
  const Value expected = model.linear("critic", hidden, 1);
  model.output("scores", scores);
  model.output("expected", expected);
  // Moves that turned out better than expected become more likely, and others less likely.
  const Value surprise =
      model.cross_entropy(scores, move, {.reduction = LossReduction::none}) * advantage;
  return {model, model.identity_loss(surprise), model.mse_loss(expected, reward)};
}

std::mt19937 random_numbers(1);

double random_share() {
  return std::uniform_real_distribution<double>()(random_numbers);
}

/// A Corridor has a walker in each of many corridors. The last cell is worth 1, each step costs
/// 0.02, and the wind blows a walker back now and then. Whoever has arrived starts again.
class Corridor {
 public:
  Tensor cells_of_walkers() const {
    std::vector<float> rows(walkers * cells, 0);
    for (std::size_t i = 0; i < walkers; ++i)
      rows[i * cells + static_cast<std::size_t>(at_[i])] = 1;
    return {{walkers, cells}, rows};
  }

  /// Moves a walker by one cell, to the left (0) or right (1), and returns the reward.
  float go(std::size_t walker, std::int64_t move) {
    int& at = at_[walker];
    const bool wind = random_share() < 0.2;
    at = std::max(0, at + (move == 1 && !wind ? 1 : -1));
    if (at < cells - 1) return -0.02f;
    at = 0;
    return 1;
  }

 private:
  std::array<int, walkers> at_{};
};

/// What the walkers have seen, done and got, step by step.
struct Walk {
  std::vector<Tensor> cells;
  std::vector<std::int64_t> moves;
  std::vector<float> rewards, expected;
};

Walk walk(InferenceModel& policy, Corridor& corridor) {
  Walk result;
  for (int step = 0; step < steps; ++step) {
    result.cells.push_back(corridor.cells_of_walkers());
    const StepResult outputs = policy.run({result.cells.back()});
    const auto scores = outputs.output("scores").as<float>();
    const auto expected = outputs.output("expected").as<float>();
    for (std::size_t i = 0; i < walkers; ++i) {
      const double right = 1 / (1 + std::exp(double{scores[2 * i]} - double{scores[2 * i + 1]}));
      result.moves.push_back(random_share() < right ? 1 : 0);
      result.rewards.push_back(corridor.go(i, result.moves.back()));
      result.expected.push_back(expected[i]);
    }
  }
  return result;
}

/// Replaces each reward by the sum of all that follow it, each counting less the later it comes.
void add_later_rewards(Walk& walk) {
  constexpr float kept = 0.9f;
  const std::vector<float> last(walk.expected.end() - walkers, walk.expected.end());
  for (std::size_t i = walk.rewards.size(); i-- > 0;)
    walk.rewards[i] +=
        kept * (i + walkers < walk.rewards.size() ? walk.rewards[i + walkers] : last[i % walkers]);
}

int main() {
  const ActorCritic learner = network();
  const Options options{.batch_size = walkers, .device_iterations = steps};
  TrainingModel actor(learner.model, options, Adam{.learning_rate = 0.003},
                      {.loss = learner.actor_loss, .trains = {"body.*", "actor.*"}, .outputs = {}});
  TrainingModel critic(learner.model, options, Adam{.learning_rate = 0.01},
                       {.loss = learner.critic_loss, .trains = {"critic.*"}, .outputs = {}});
  InferenceModel policy(learner.model, {.batch_size = walkers});

  Corridor corridor;
  double first = 0, last = 0;
  constexpr int rounds = 40;
  for (int round = 0; round < rounds; ++round) {
    Walk seen = walk(policy, corridor);
    double reward = 0;
    for (const float one : seen.rewards) reward += one / static_cast<double>(seen.rewards.size());
    (round == 0 ? first : last) = reward;
    add_later_rewards(seen);
    std::vector<float> rows, advantages;
    for (const Tensor& tensor : seen.cells)
      rows.insert(rows.end(), tensor.as<float>().begin(), tensor.as<float>().end());
    for (std::size_t i = 0; i < seen.rewards.size(); ++i)
      advantages.push_back(seen.rewards[i] - seen.expected[i]);
    const std::int64_t count = walkers * steps;
    const Tensor cell({count, cells}, rows);
    actor.step({{"cell", cell},
                {"move", Tensor({count}, seen.moves)},
                {"advantage", Tensor({count}, advantages)}});
    critic.step({{"cell", cell}, {"reward", Tensor({count, 1}, seen.rewards)}});
  }
  std::cout << "reward of a step: " << first << " at first, " << last << " after training\n";
  return last > 0.05 && last > first + 0.03 ? 0 : 1;
}
