// A device is an IPU. It runs one program or weight update at a time, in the order of their
// arrival. It owns the scratch memory that its stages' programs share, rooms for the weights of one
// of them at a time each, and the threads that share their work.
#pragma once

#include <array>

#include "actors/execution/thread_team.hpp"
#include "actors/execution/weight_room.hpp"
#include "actors/host/ipu_pulse.hpp"
#include "actors/messages/local_messages.hpp"
#include "graph/plan/phases/residency.hpp"

namespace penstock::actors {

struct DeviceSetup {
  std::shared_ptr<const PipelineSetup> pipeline = {};
  std::shared_ptr<std::byte> scratch = {};
  std::int64_t scratch_bytes = 0;
  SupervisorHandle supervisor = {};
  std::shared_ptr<ThreadTeam> team = {};  ///< Is null if the device's own thread works alone.
  std::array<WeightRoom, graph::rooms> weight_rooms = {WeightRoom(), WeightRoom()};
  std::shared_ptr<IpuPulse> pulse = {};  ///< Is not null.
};

struct DeviceState {
  void start(DeviceHandle::pointer actor, DeviceSetup setup);
  void on_run_program(RunProgram& request);
  void on_bring_weights(BringWeights& request);
  void on_run_update(RunUpdate& request);
  /// Calls `run`, while the IPU is known to be at `work`, and returns whether it has ended. What it
  /// throws becomes the host's failure, which begins with what `what` returns.
  template <class Run, class What>
  bool run_or_report(const IpuWork& work, Run run, What what);

  WeightRoom& room_of(const Arena& arena);
  /// Brings the weights of a stage of `replica` for `work` in phased execution, if they are not
  /// there, and tells the stage.
  void bring(const StageHandle& stage, std::int32_t replica, Arena& arena, const Work& work);
  /// Lets the weights of `arena` leave if `work` is the last of a turn after which they may not
  /// stay.
  void end_turn(const Arena& arena, const Work& work);

  DeviceHandle::pointer self = nullptr;
  DeviceSetup setup;
};

DeviceHandle::behavior_type device_actor(DeviceHandle::stateful_pointer<DeviceState> self,
                                         DeviceSetup setup);

}  // namespace penstock::actors
