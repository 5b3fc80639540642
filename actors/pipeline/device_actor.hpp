// Device: an IPU. Runs one program or weight update at a time, in the order of their arrival, and
// owns the scratch memory that its stages' programs share, the room for the weights of one of them
// at a time, and the threads that share their work.
#pragma once

#include "actors/execution/thread_team.hpp"
#include "actors/execution/weight_room.hpp"
#include "actors/pipeline/messages.hpp"

namespace penstock::actors {

struct DeviceSetup {
  std::shared_ptr<const PipelineSetup> pipeline = {};
  std::shared_ptr<std::byte> scratch = {};
  std::int64_t scratch_bytes = 0;
  SupervisorHandle supervisor = {};
  std::shared_ptr<ThreadTeam> team = {};  ///< null: the device's own thread does it all
  WeightRoom weight_room = WeightRoom();
};

struct DeviceState {
  void start(DeviceHandle::pointer actor, DeviceSetup setup);
  void on_run_program(RunProgram& request);
  void on_run_update(RunUpdate& request);
  /// What `run` throws becomes the host's failure, after `what` it was about; then false.
  template <class Run, class What>
  bool run_or_report(Run run, What what, bool is_update);

  DeviceHandle::pointer self = nullptr;
  DeviceSetup setup;
};

DeviceHandle::behavior_type device_actor(DeviceHandle::stateful_pointer<DeviceState> self,
                                         DeviceSetup setup);

}  // namespace penstock::actors
