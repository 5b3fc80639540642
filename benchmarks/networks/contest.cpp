#include "benchmarks/networks/contest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "benchmarks/measuring/measure.hpp"
#include "benchmarks/pytorch/pytorch.hpp"
#include "graph/values/memory.hpp"

namespace penstock::benchmarks {
namespace {

/// Returns the setting whose shortest run is the shortest of all. Every setting has a few runs, and
/// the settings run in turns.
const Setting& fastest(const Contest& contest, const Samples& samples) {
  const auto& settings = contest.settings;
  if (settings.size() == 1) return settings.front();
  std::vector<std::unique_ptr<Runner>> runners;
  for (const Setting& setting : settings) {
    runners.push_back(penstock_runner(contest.task, setting, samples));
    runners.back()->run();  // The first run of each setting only warms up.
  }
  std::vector<double> shortest(runners.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < 5; ++round)
    for (std::size_t i = 0; i < runners.size(); ++i)
      shortest[i] = std::min(shortest[i], seconds_of([&] { runners[i]->run(); }));
  const auto best = std::min_element(shortest.begin(), shortest.end()) - shortest.begin();
  return settings[static_cast<std::size_t>(best)];
}

/// A Lane has one contestant, and the seconds that each of its measured runs took.
struct Lane {
  Runner* runner;
  int pytorch_threads;  ///< `pytorch_threads` is 0 for the engine.
  std::vector<double> seconds = {};
};

/// Runs a contestant twice and keeps the time of the second run. The first run suffers from what
/// the contestant before leaves behind: full caches, and threads that wait busily for a while.
void run_once(Lane& lane) {
  if (lane.pytorch_threads > 0) pytorch()->use_threads(lane.pytorch_threads);
  lane.runner->run();
  lane.seconds.push_back(seconds_of([&] { lane.runner->run(); }));
}

Speed speed_of(const Lane& lane, std::int64_t samples, const std::string& setting) {
  return {static_cast<double>(samples) / median(lane.seconds), setting};
}

Speed pytorch_speed(const std::vector<Lane>& lanes, const Cut& cut) {
  Speed best;
  for (const Lane& lane : lanes) {
    if (lane.pytorch_threads == 0) continue;
    const std::string threads = lane.pytorch_threads == 1 ? ", 1 thread" : ", 2 threads";
    const Speed speed = speed_of(lane, cut.samples(), "b=" + std::to_string(cut.batch) + threads);
    if (speed.samples_per_second > best.samples_per_second) best = speed;
  }
  return best;
}

}  // namespace

Standing hold(const Contest& contest, int rounds) {
  const std::int64_t count = contest.pytorch.samples();
  const Samples samples = noise(contest.task, count);
  const Setting& setting = fastest(contest, samples);
  const auto ours = penstock_runner(contest.task, setting, samples);
  std::unique_ptr<Runner> theirs;
  std::vector<Lane> lanes{{ours.get(), 0}};
  ours->run();

  Standing standing;
  if (pytorch() != nullptr) {
    theirs = pytorch()->runner(contest.task, contest.pytorch, initial_weights(contest.task.network),
                               samples);
    theirs->run();
    standing.difference =
        std::abs(ours->outcome() - theirs->outcome()) / std::abs(theirs->outcome());
    // PyTorch with one thread runs between PyTorch with two threads and the engine, because the
    // second of two threads waits busily for a while after its work.
    lanes.insert(lanes.end(), {{theirs.get(), 2}, {theirs.get(), 1}});
  }
  // The engine still keeps its first result while it makes a second one. After this run, the engine
  // has all the memory that it needs.
  ours->run();
  const std::uint64_t blocks = memory_counters().blocks_allocated;
  for (int round = 0; round < rounds; ++round)
    for (Lane& lane : lanes) run_once(lane);
  standing.blocks = memory_counters().blocks_allocated - blocks;
  standing.penstock = speed_of(lanes.front(), count, setting.name);
  standing.pytorch = pytorch_speed(lanes, contest.pytorch);
  return standing;
}

}  // namespace penstock::benchmarks
