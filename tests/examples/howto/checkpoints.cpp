// This program is interrupted twice while it trains, and goes on from the newest checkpoint each
// time. The training ends with the same bits as a training without an interruption.
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <penstock/penstock.hpp>
#include <stop_token>

using namespace penstock;

namespace {

Model network() {
  Model model("digits");
  Value x = model.flatten(model.input("image", {1, 28, 28}));
  const Value labels = model.labels();
  x = model.dropout("drop", model.relu(model.linear("hidden", x, 32)), 0.1);
  model.loss(model.cross_entropy(model.linear("out", x, 10), labels));
  return model;
}

const Options options{.batch_size = 32};

DataLoader images() {
  return DataLoader(synthetic_digits(960, 0, {}), options, {.shuffle = true, .seed = 7});
}

/// Trains until the end, or until `stop` is requested, and goes on from the newest checkpoint.
History train(const Model& model, const std::string& path, const FitCallback& callback,
              std::stop_token stop) {
  TrainingModel training(model, options, AdamW{.learning_rate = 0.002});
  DataLoader data = images();
  CheckpointDirectory directory(path, 3);  // The newest three are kept.
  const FoundCheckpoint found = directory.newest();
  for (const std::string& damaged : found.skipped) std::cerr << damaged << '\n';
  FitCheckpoints checkpoints{.every_updates = 25};
  checkpoints.save = [&](Checkpoint checkpoint) { directory.save(std::move(checkpoint)); };
  if (found.checkpoint) checkpoints.resume = &*found.checkpoint;
  const History history =
      fit(training, data, {.epochs = 4, .callbacks = {callback}, .checkpoints = checkpoints}, stop);
  directory.wait();  // From here on, the last checkpoint is on the disk.
  return history;
}

/// Returns a callback that asks for a stop after `steps` steps, as a signal would.
FitCallback interruption(std::stop_source& stop, int steps) {
  FitCallback callback;
  callback.on_step_end = [&stop, steps](const StepRecord&, const StepResult&) mutable {
    if (--steps == 0) stop.request_stop();
    return Next::go_on;
  };
  return callback;
}

/// Trains in the same loop as a host that does not use fit().
void train_in_a_loop(const Model& model, CheckpointDirectory& directory) {
  TrainingModel training(model, options, AdamW{.learning_rate = 0.002});
  DataLoader data = images();
  if (const FoundCheckpoint found = directory.newest(); found.checkpoint)
    restore_checkpoint(*found.checkpoint, training, data);
  while (training.updates() < 120) {
    std::optional<Batch> batch = data.next();
    if (!batch) data.start_epoch();
    if (!batch) batch = data.next();
    training.step(*batch);
    if (training.updates() % 50 == 0) directory.save(make_checkpoint(training, data));
  }
  directory.wait();
}

bool same_weights(const Model& a, const Model& b) {
  const Tensor one = a.weight("out.weight"), other = b.weight("out.weight");
  return std::memcmp(one.raw(), other.raw(), one.bytes()) == 0;
}

}  // namespace

int main() {
  for (const char* path : {"interrupted_run", "run_in_a_loop", "whole_run"})
    std::filesystem::remove_all(path);
  Model resumed = network();
  for (const int steps : {40, 37, 1000}) {
    resumed = network();
    std::stop_source stop;
    const History history =
        train(resumed, "interrupted_run", interruption(stop, steps), stop.get_token());
    std::cout << (history.cancelled ? "interrupted" : "ended") << " after " << history.updates
              << " updates\n";
  }
  const Model whole = network();
  train(whole, "whole_run", {}, {});
  const Model looped = network();
  CheckpointDirectory directory("run_in_a_loop");
  train_in_a_loop(looped, directory);
  const bool same = same_weights(whole, resumed) && same_weights(whole, looped);
  std::cout << (same ? "the same bits as without the interruptions\n" : "other bits\n");
  return same ? 0 : 1;
}
