// A TimedPipeline executes the actors of a small network in virtual time. A program takes as many
// ticks as its stage's cost says, a message takes none, and each stage has an IPU of its own, which
// may have to wait for a processor. Thus the times of a stage's work depend only on the engine's
// decisions, and not on real time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "actors/messages/handles.hpp"
#include "actors/messages/local_messages.hpp"
#include "graph/plan/plan.hpp"
#include "graph/plan/schedules/simulator.hpp"
#include "penstock/trace.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::testing {

/// A TimedProgram is a program that an IPU was asked to run.
struct TimedProgram {
  graph::Run run = {};
  int asked = 0;  ///< The IPU was asked in this tick.
  actors::DeviceHandle ipu = {};
  actors::RunProgram request = {};
};

/// A VirtualTime has the present time and the programs of a window.
struct VirtualTime {
  int now = 0;  ///< This is counted in ticks.
  /// These wait for a processor; the first one waits longest.
  std::vector<TimedProgram> waiting = {};
  std::vector<TimedProgram> running = {};
  std::vector<TimedProgram> done = {};
};

class TimedPipeline {
 public:
  /// Makes a pipeline. `costs` has, in whole numbers, the ticks of each stage's forward and
  /// backward. If there is a `seed`, the order of the messages in a tick is drawn from it. At most
  /// `processors` IPUs can work at the same time; 0 means that all can.
  TimedPipeline(const SmallEngineOptions& options, std::vector<graph::StageCost> costs,
                std::optional<std::uint64_t> seed = {}, int processors = 0);
  ~TimedPipeline();
  TimedPipeline(const TimedPipeline&) = delete;
  TimedPipeline& operator=(const TimedPipeline&) = delete;

  /// Trains for one window. Returns the runs in the order of time, and then of stages; a slot is a
  /// tick.
  /// @throws std::runtime_error if the window does not end.
  graph::Timeline run_window();
  /// Returns the events that the stages recorded in the last window, with virtual times instead of
  /// real ones: a tick is a millisecond, and the window begins at 0. The events are in the order of
  /// time.
  std::vector<TraceEvent> take_events();
  const std::shared_ptr<const graph::Plan>& plan() const { return cast_.pipeline()->plan; }

 private:
  void put_on_own_ipu(std::size_t stage, const graph::StageCost& cost);
  /// Begins the programs that have waited longest, while there are free processors.
  void begin_programs();
  /// Ends the programs whose time is over. Returns whether there were any such programs.
  bool end_programs();

  SmallCast cast_;
  DeterministicRun order_;
  int processors_;
  std::shared_ptr<VirtualTime> time_ = std::make_shared<VirtualTime>();
  std::vector<actors::DeviceHandle> ipus_;
};

}  // namespace penstock::testing
