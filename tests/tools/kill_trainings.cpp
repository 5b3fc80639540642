// This program kills trainings at random instants, lets each go on from its newest checkpoint, on
// one topology or another, with other classes of tensors in the host store, and kills it again,
// until it ends. Weights, their moving average and all losses must have the bits of a training that
// was never killed, and that had everything on its IPUs. The network has dropout and batch
// norm, and is trained on shuffled data by two replicas, until all epochs are done, until a
// callback ends it, or up to a number of updates that cuts a step short. A training that has come
// to its end does so again at once, with the same results. No file that a killed process leaves may
// be damaged. The test suite runs the program for a few kills; a longer run is
//
//   build-test/tests/tools/kill_trainings --kills 300 [--seed S]
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/kill_program.hpp"

namespace penstock::testing {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::microseconds;

constexpr std::int64_t sample_count = 400;
constexpr int epochs = 10, kept = 2, most_kills_of_a_training = 8;

struct Topology {
  std::string name;
  std::function<void(Options&)> change;
};

std::vector<Topology> topologies() {
  return {{"two stages", [](Options&) {}},
          {"one stage", [](Options& options) { options.topology.stages = parse_stages("B1,B2"); }},
          {"interleaved, with recomputation",
           [](Options& options) {
             options.topology.schedule = PipelineSchedule::interleaved;
             options.training.recompute = true;
           }},
          {"sharded state, one after the other", [](Options& options) {
             options.topology.strategy = Strategy::sharded;
             options.training.sharding.optimizer_state = {true, 2};
           }}};
}

/// A Place is a topology of a training, and what the training keeps in the host store.
struct Place {
  Topology topology;
  OffloadOptions offload = {};
};

/// Returns a random topology. Half of the places keep everything on the IPUs. Each of the others
/// draws which classes of tensors are in the host store, and whether the smallest tensors are, too.
Place random_place(std::mt19937& random) {
  const std::vector<Topology> all = topologies();
  Place place{all[random() % all.size()]};
  if (random() % 2 == 0) return place;
  for (Offload OffloadOptions::*const tensors :
       {&OffloadOptions::optimizer_state, &OffloadOptions::accumulators,
        &OffloadOptions::activations, &OffloadOptions::weights}) {
    Offload& offload = place.offload.*tensors;
    offload.on = random() % 2 == 0;
    if (random() % 2 == 0) offload.minimum_bytes = 0;
  }
  return place;
}

/// An Ending says when a training ends that is not killed.
struct Ending {
  int iterations = 1;  ///< A step does this many updates.
  std::optional<std::int64_t> max_updates = {};
  /// A callback ends the training after this many updates, unless the number is 0.
  std::uint64_t stopped_after = 0;
};

const std::vector<Ending> endings{
    {}, {.iterations = 2, .max_updates = 251}, {.stopped_after = 270}};

Options options_on(const Place& place, const Ending& ending) {
  Options options = options_for(2, 2, ending.iterations);
  options.topology.replication_factor = 2;
  options.runtime.monitor = false;
  place.topology.change(options);
  options.training.offload = place.offload;
  return options;
}

/// Returns a callback that writes down the bits of all losses of steps and epochs, and ends the
/// training after `stopped_after` updates.
FitCallback recorder(std::string& lines, std::uint64_t stopped_after) {
  FitCallback callback;
  callback.on_step_end = [&lines, stopped_after](const StepRecord& step, const StepResult& result) {
    char text[100];
    std::snprintf(text, sizeof text, "%d %lld %a\n", step.epoch, static_cast<long long>(step.step),
                  result.mean_loss);
    lines += text;
    return step.updates == stopped_after ? Next::stop : Next::go_on;
  };
  callback.on_epoch_end = [&](const EpochRecord& epoch) {
    char text[100];
    std::snprintf(text, sizeof text, "epoch %d %a %a\n", epoch.epoch,
                  value_of(epoch.values, "loss"), value_of(epoch.values, "accuracy"));
    lines += text;
    return Next::go_on;
  };
  callback.state_name = "recorder";
  callback.save_state = [&] { return SavedState{.texts = {{"lines", lines}}}; };
  callback.load_state = [&](const SavedState& state) { lines = state.text("lines"); };
  return callback;
}

/// Trains from the newest checkpoint in `directory` on, and leaves the results beside it.
void train(const TemporaryDirectory& directory, const Place& place, const Ending& ending,
           std::int64_t every) {
  const Model model = tied_model();
  const Options options = options_on(place, ending);
  TrainingModel training(model, options, AdamW{.learning_rate = 0.01});
  DataLoader data(tensor_dataset(samples(sample_count, true)), options,
                  {.shuffle = true, .seed = 3});
  const ModelAverage average(model, {.decay = 0.9, .every_steps = 3});
  CheckpointDirectory checkpoints(directory / "checkpoints", kept);
  const FoundCheckpoint found = checkpoints.newest();
  std::string lines;
  fit(training, data,
      {.epochs = epochs,
       .max_updates = ending.max_updates,
       .metrics = {accuracy("y")},
       .callbacks = {average.callback(), recorder(lines, ending.stopped_after)},
       .checkpoints = {
           .save = [&](Checkpoint checkpoint) { checkpoints.save(std::move(checkpoint)); },
           .every_updates = every,
           .resume = found.checkpoint ? &*found.checkpoint : nullptr}});
  checkpoints.wait();
  model.save_weights(directory / "weights");
  average.model().save_weights(directory / "average");
  OutputFile losses(directory / "losses");
  losses.write(lines);
  losses.commit();
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// Starts a process that trains.
pid_t start(const TemporaryDirectory& directory, const Place& place, const Ending& ending,
            std::int64_t every) {
  const pid_t trainer = ::fork();
  expect(trainer >= 0, "cannot fork");
  if (trainer != 0) return trainer;
  // Without this call, the process would go on if this program ended after a failed check.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    train(directory, place, ending, every);
    ::_exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the training: %s\n", error.what());
    ::_exit(1);
  }
}

/// Waits for the end of the process `trainer`. Returns true if it ended by itself, and false if it
/// was killed.
bool ended_by_itself(pid_t trainer) {
  int status = 0;
  ::waitpid(trainer, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return false;
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a training has failed");
  return true;
}

/// Returns the names of the files that a training has in its directory.
std::set<std::string> files_of(const TemporaryDirectory& directory) {
  std::set<std::string> names;
  std::error_code vanished;
  for (const auto& entry : std::filesystem::directory_iterator(directory / "checkpoints", vanished))
    names.insert(entry.path().filename().string());
  return names;
}

/// Waits until a checkpoint appears or is removed, or until `most` is over.
void await_change(const TemporaryDirectory& directory, Microseconds most) {
  const std::set<std::string> before = files_of(directory);
  for (const auto end = Clock::now() + most; Clock::now() < end;)
    if (files_of(directory) != before) return;
}

/// Waits for an instant in a training that takes the time `usual`: one in four is right after its
/// start, and one in two is at about the time when a checkpoint is written.
void await_instant(std::mt19937& random, const TemporaryDirectory& directory, Microseconds usual) {
  const Microseconds share = usual * (random() % 1000) / 1000;
  const unsigned kind = random() % 4;
  std::this_thread::sleep_for(kind == 0 ? share / 20 : share);
  if (kind < 2) return;
  await_change(directory, usual);
  if (kind == 2) std::this_thread::sleep_for(Microseconds(random() % 2000));
}

/// Checks what a killed process has left: every checkpoint is whole, and none is older than number
/// `least`. Returns the number of the newest one, or 0.
std::uint64_t expect_whole_checkpoints(const TemporaryDirectory& directory, std::uint64_t least) {
  std::uint64_t newest = 0;
  std::size_t count = 0;
  for (const std::string& name : files_of(directory)) {
    // These are the lock and a file that was about to replace the checkpoint of the same update.
    if (name.starts_with(".penstock-")) continue;
    expect(name.starts_with("checkpoint-"), "\"" + name + "\" is left behind");
    newest = std::max(newest, load_checkpoint(directory / ("checkpoints/" + name)).updates);
    ++count;
  }
  expect(newest >= least, "the newest checkpoint was lost");
  expect(count <= kept + 1, "too many checkpoints are kept");
  return newest;
}

struct Results {
  std::string weights, average, losses;
  bool operator==(const Results&) const = default;
};

Results results_of(const TemporaryDirectory& directory) {
  return {file_content(directory / "weights"), file_content(directory / "average"),
          file_content(directory / "losses")};
}

/// Counts say what a test has done.
struct Counts {
  int kills = 0, trainings = 0, beginnings = 0;
};

/// Trains and kills until a training has come to its end, and once more. `usual` is how long a
/// training takes.
void train_and_kill(std::mt19937& random, Microseconds usual, const Ending& ending,
                    const Results& expected, Counts& counts) {
  const TemporaryDirectory directory;
  const std::int64_t every = 1 + random() % 20;
  std::uint64_t newest = 0;
  for (int kill = 0;; ++kill) {
    const pid_t trainer = start(directory, random_place(random), ending, every);
    if (kill < most_kills_of_a_training) {
      await_instant(random, directory, usual);
      ::kill(trainer, SIGKILL);
    }
    if (ended_by_itself(trainer)) break;
    ++counts.kills;
    newest = expect_whole_checkpoints(directory, newest);
    counts.beginnings += newest == 0;
  }
  ++counts.trainings;
  expect(results_of(directory) == expected, "a training that was killed has other results");
  expect(ended_by_itself(start(directory, random_place(random), ending, every)),
         "the training was killed");
  expect(results_of(directory) == expected, "a training that was over has other results");
}

int kill_trainings(int kills, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Results> expected;
  const auto begin = Clock::now();
  for (const Ending& ending : endings) {
    const TemporaryDirectory whole;
    expect(ended_by_itself(start(whole, {topologies().front()}, ending, 1'000'000)),
           "the training was killed");
    expected.push_back(results_of(whole));
  }
  const auto usual = std::chrono::duration_cast<Microseconds>(Clock::now() - begin) /
                     static_cast<int>(endings.size());
  Counts counts;
  for (std::size_t i = 0; counts.kills < kills; i = (i + 1) % endings.size())
    train_and_kill(random, usual, endings[i], expected[i], counts);
  std::printf(
      "%d kills in %d trainings, %d of them before the first checkpoint; all ended with the same "
      "bits\n",
      counts.kills, counts.trainings, counts.beginnings);
  return 0;
}

}  // namespace
}  // namespace penstock::testing

int main(int argc, char** argv) {
  using namespace penstock::testing;
  return kill_program(argc, argv, "kill_trainings", kill_trainings);
}
