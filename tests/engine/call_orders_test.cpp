// These tests make calls in random order, and compare the results with those of models of every
// size of micro-batch, to which the test hands on the optimizer's state. The bits are the same,
// whatever is detached, asked or short of memory between steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "penstock/training_model.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/short_call_models.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

using State = std::vector<NamedTensor>;

// This is the number of samples of an update. A full call has two updates.
constexpr int batch = 8;
constexpr std::int64_t of_full = 2 * batch;

Options options_of(int size, int updates, std::int64_t limit) {
  Options options = with_limit(limit);
  options.batch_size = size;
  options.device_iterations = updates;
  return options;
}

Optimizer optimizer_of(double learning_rate) {
  Optimizer optimizer = AdamW{.learning_rate = learning_rate};
  optimizer.loss_scaling = 3;  // The number is no power of two, so that it changes the rounding.
  return optimizer;
}

/// An Undisturbed has models of one network whose full calls have 1 to 8 samples, each independent
/// of the others.
class Undisturbed {
 public:
  const Model model = network();

  Undisturbed() {
    for (const ParameterInfo& info : model.parameters())
      first_weights_.push_back(model.weight(info.name));
    first_state_ = of_size(batch).optimizer_state();
  }

  void begin_anew() {
    std::size_t next = 0;
    for (const ParameterInfo& info : model.parameters())
      model_.set_weight(info.name, first_weights_[next++]);
  }
  const State& first_state() const { return first_state_; }

  void step(std::int64_t count, const Optimizer& optimizer, State& state) {
    const std::vector<Tensor> data = samples(count);
    for (std::int64_t begin = 0; begin < count; begin += batch) {
      const std::int64_t end = std::min<std::int64_t>(begin + batch, count);
      TrainingModel& training = of_size(static_cast<int>(end - begin));
      training.set_optimizer(optimizer);
      training.set_optimizer_state(state);
      training.step({data[0].rows(begin, end), data[1].rows(begin, end)});
      state = training.optimizer_state();
    }
  }

 private:
  TrainingModel& of_size(int size) {
    return models_.try_emplace(size, model, options_of(size, 1, 0), optimizer_of(0.1))
        .first->second;
  }

  Model model_ = model;  // This handle is not const, so that it can set weights.
  std::map<int, TrainingModel> models_;
  std::vector<Tensor> first_weights_;
  State first_state_;
};

/// A Trained has a model under test, and the state that the model must have.
struct Trained {
  Trained(const Model& model, std::int64_t limit, const State& first)
      : training(model, options_of(batch, 2, limit), optimizer), state(first), saved(first) {}

  Optimizer optimizer = optimizer_of(0.1);
  TrainingModel training;
  State state, saved;
  std::optional<std::string> file;
  std::uint64_t updates = 0, saved_updates = 0;
};

class Sequence {
 public:
  Sequence(Undisturbed& undisturbed, std::uint64_t seed, std::int64_t limit)
      : undisturbed_(undisturbed), numbers_(seed) {
    undisturbed_.begin_anew();
    for (int i = 0; i < 2; ++i) models_.emplace_back(model_, limit, undisturbed.first_state());
  }

  void run(int calls) {
    for (int call = 0; call < calls && !::testing::Test::HasFailure(); ++call)
      make_call(models_[below(models_.size())]);
    SCOPED_TRACE(calls_so_far_);
    expect_same_weights(model_, undisturbed_.model);
    for (Trained& one : models_) {
      expect_same_state(one.training.optimizer_state(), one.state);
      EXPECT_EQ(one.training.updates(), one.updates);
    }
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return numbers_() % limit; }

  void make_call(Trained& one) {
    calls_so_far_ += &one == &models_[0] ? " A:" : " B:";
    switch (below(12)) {
      case 0:
        return step(one, of_full);
      case 1:
      case 2:
      case 3:
        return step(one, 2 + static_cast<std::int64_t>(below(6)));
      case 4:
        return step(one, batch + 2 + static_cast<std::int64_t>(below(6)));
      case 5:
        calls_so_far_ += "detach";
        if (one.training.attached()) one.training.detach();
        return;
      case 6:
        calls_so_far_ += "attach";
        return one.training.attach();
      case 7:
        return set_optimizer(one);
      case 8:
        return save_state(one);
      case 9:
        return load_state(one);
      case 10:
        return set_weight();
      default:
        return ask(one);
    }
  }

  void step(Trained& one, std::int64_t count) {
    calls_so_far_ += "step " + std::to_string(count);
    one.training.step(samples(count));
    undisturbed_.step(count, one.optimizer, one.state);
    one.updates += static_cast<std::uint64_t>((count + batch - 1) / batch);
  }

  void set_optimizer(Trained& one) {
    calls_so_far_ += "set_optimizer";
    one.optimizer = optimizer_of(0.01 * static_cast<double>(1 + below(20)));
    one.training.set_optimizer(one.optimizer);
  }

  void save_state(Trained& one) {
    calls_so_far_ += "save_state";
    one.file = (directory_ / (&one == &models_[0] ? "a" : "b")).string();
    one.training.save_optimizer_state(*one.file);
    one.saved = one.state;
    one.saved_updates = one.updates;
  }

  void load_state(Trained& one) {
    calls_so_far_ += "load_state";
    if (one.file)
      one.training.load_optimizer_state(*one.file);
    else
      one.training.set_optimizer_state(one.saved);
    one.state = one.saved;
    one.updates = one.saved_updates;
  }

  void set_weight() {
    calls_so_far_ += "set_weight";
    const Tensor value = uniform({3, 4}, below(1000));
    model_.set_weight("fc.weight", value);
    Model(undisturbed_.model).set_weight("fc.weight", value);
  }

  void ask(Trained& one) {
    calls_so_far_ += "ask";
    one.training.stage_reports();
    const std::string name = "norm.running_mean";
    EXPECT_TRUE(same_bits(one.training.buffer(name, 0), undisturbed_.model.weight(name)))
        << calls_so_far_;
  }

  Undisturbed& undisturbed_;
  std::mt19937_64 numbers_;
  Model model_ = network();
  std::vector<Trained> models_;
  TemporaryDirectory directory_;
  std::string calls_so_far_;
};

/// Returns how many bytes of the IPU the plan for steps of `size` samples takes.
std::int64_t bytes_of(int size) {
  const TrainingModel training(network(), options_of(size, 1, 0), optimizer_of(0.1));
  return training.stage_reports().at(0).peak_bytes;
}

TEST(CallOrders, OfStepsAndWhatIsBetweenThemChangeNoBits) {
  Undisturbed undisturbed;
  const std::int64_t of_one = bytes_of(batch), of_two = of_one + bytes_of(7);
  const std::uint64_t sequences = sanitized ? 20 : 200;
  std::uint64_t seed = 0;
  for (const std::int64_t limit : {std::int64_t{0}, of_one * 5 / 4, of_two * 9 / 8})
    for (std::uint64_t number = 0; number < sequences / 3 + 1 && !HasFailure(); ++number) {
      SCOPED_TRACE("limit " + std::to_string(limit) + ", seed " + std::to_string(++seed));
      Sequence(undisturbed, seed, limit).run(30);
    }
}

}  // namespace
}  // namespace penstock::testing
