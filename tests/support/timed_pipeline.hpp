// A TimedPipeline executes the actors of a small network in virtual time. A program takes as many
// ticks as its stage's cost says, a message takes none, and each stage has an IPU of its own. What
// a stage does when is then decided by the engine's counting alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "graph/plan/schedules/simulator.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::testing {

/// Has what IPUs write down while virtual time passes.
struct VirtualTime {
  int now = 0;                        ///< Is counted in ticks.
  std::vector<graph::Run> runs = {};  ///< Are in the order of their beginning.
};

class TimedPipeline {
 public:
  /// `costs` has whole numbers of ticks, one pair per stage. With a `seed`, the order of the
  /// messages of a tick is drawn from it.
  TimedPipeline(const SmallEngineOptions& options, std::vector<graph::StageCost> costs,
                std::optional<std::uint64_t> seed = {});
  ~TimedPipeline();
  TimedPipeline(const TimedPipeline&) = delete;
  TimedPipeline& operator=(const TimedPipeline&) = delete;

  /// Trains for one window. Runs are ordered by time, then by stage; a slot is a tick.
  /// @throws std::runtime_error if the window does not end.
  graph::Timeline run_window();

 private:
  void put_on_own_ipu(std::size_t stage, const graph::StageCost& cost);

  SmallCast cast_;
  DeterministicRun order_;
  std::shared_ptr<VirtualTime> time_ = std::make_shared<VirtualTime>();
  std::vector<actors::DeviceHandle> ipus_;
};

}  // namespace penstock::testing
