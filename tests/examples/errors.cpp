// This program makes calls that the engine refuses, and shows the errors that a host then catches.
#include <functional>
#include <iostream>
#include <penstock/penstock.hpp>
#include <stop_token>
#include <vector>

using namespace penstock;

namespace {

Model network() {
  Model model("network");
  const Value x = model.linear("fc", model.input("x", {2}), 3);
  model.output("y", x);
  model.loss(model.cross_entropy(x, model.labels()));
  return model;
}

// The loss takes probabilities, and the network does not make any.
Model network_without_probabilities() {
  Model model("odds");
  const Value x = model.linear("fc", model.input("x", {1}), 1, false);
  model.loss(model.binary_cross_entropy(x, model.input("target", {1})));
  model.set_weight("fc.weight", Tensor({1, 1}, {1.0f}));
  return model;
}

bool refused(Errc expected, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    std::cout << to_string(error.code()) << ": " << error.what() << '\n';
    return error.code() == expected;
  }
  std::cout << "not refused: " << to_string(expected) << '\n';
  return false;
}

enum class Outcome { done, try_again, stopped, left_out, train_anew };

Outcome step(TrainingModel& training, const std::vector<Tensor>& batch, std::stop_token stop) {
  try {
    training.step(batch, stop);
    return Outcome::done;
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    if (error.code() == Errc::busy) return Outcome::try_again;     // The call changed nothing.
    if (error.code() == Errc::cancelled) return Outcome::stopped;  // No update was left half done.
    if (error.code() == Errc::stage_failed) return Outcome::left_out;  // The next step goes on.
    if (error.code() == Errc::closed)  // A new TrainingModel goes on from the last whole update.
      return Outcome::train_anew;
    throw;  // The caller handles all other errors.
  }
}

}  // namespace

int main() {
  const Model model = network();
  const Options options{.batch_size = 4};
  TrainingModel training(model, options);
  const Tensor x = Tensor::zeros(DType::f32, {4, 2});
  const Tensor labels({4}, std::vector<std::int64_t>{0, 1, 2, 1});

  bool all = refused(Errc::invalid_argument, [] { Options{.batch_size = 0}.validate(); });
  all &= refused(Errc::invalid_model, [] {
    Model twice("twice");
    twice.input("x", {2});
    twice.input("x", {3});
  });
  all &= refused(Errc::invalid_topology, [&] {
    Options split = options;
    split.topology.stages = {Stage{"encoder"}, Stage{"decoder"}};
    TrainingModel(model, split);
  });
  all &= refused(Errc::shape_mismatch, [&] {
    training.step({Tensor::zeros(DType::f32, {4, 3}), labels});
  });
  all &= refused(Errc::shape_mismatch, [] {
    Model for_two("network");
    const Value input = for_two.input("x", {3});
    for_two.output("y", for_two.add(input, for_two.parameter("offsets", {2, 3})));
    TrainingModel(for_two, {.batch_size = 2});
  });
  all &= refused(Errc::invalid_data, [] { tensor_dataset({}); });
  all &= refused(Errc::invalid_data, [&] {
    training.step({x, Tensor({4}, std::vector<std::int64_t>{0, 1, 2, 7})});
  });
  all &= refused(Errc::io_error, [&] { Model(model).load_weights("missing.safetensors"); });

  std::stop_source stop;
  stop.request_stop();
  all &= step(training, {x, labels}, stop.get_token()) == Outcome::stopped;
  all &= step(training, {x, labels}, {}) == Outcome::done;

  const Model odds = network_without_probabilities();
  TrainingModel failing(odds, options);
  const Tensor target = Tensor::zeros(DType::f32, {4, 1});
  const std::vector<Tensor> bad{Tensor({4, 1}, {0.0f, 1.0f, 1.5f, 0.5f}), target};
  const std::vector<Tensor> good{Tensor({4, 1}, {0.0f, 1.0f, 0.25f, 0.5f}), target};
  all &= step(failing, bad, {}) == Outcome::left_out;
  all &= step(failing, good, {}) == Outcome::done;
  return all ? 0 : 1;
}
