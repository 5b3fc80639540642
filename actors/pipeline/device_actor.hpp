// A device actor is an IPU. It runs one program or one round of a weight update at a time, in the
// order in which the requests arrive. It owns the scratch memory that the programs of its stages
// share, two rooms that each take the weights of one stage at a time from the host store, and the
// threads that share the work of a program.
#pragma once

#include <array>
#include <optional>

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
  std::shared_ptr<ThreadTeam> team = {};  ///< This is null if the device's own thread works alone.
  std::array<WeightRoom, graph::rooms> weight_rooms = {WeightRoom(), WeightRoom()};
  std::shared_ptr<IpuPulse> pulse = {};  ///< This is not null.
};

struct DeviceState {
  void start(DeviceHandle::pointer actor, DeviceSetup setup);
  void on_run_program(RunProgram& request);
  void on_bring_weights(BringWeights& request);
  void on_run_update(RunUpdate& request);
  /// Calls `run`. Meanwhile, the IPU's pulse shows `work`. Returns when `run` was called, in
  /// nanoseconds of steady_ns(), or nothing if it has thrown an exception. The exception becomes
  /// the pipeline's failure, whose text begins with what `what()` returns.
  template <class Run, class What>
  std::optional<std::int64_t> run_or_report(const IpuWork& work, Run run, What what);

  WeightRoom& room_of(const Arena& arena);
  /// Lets other threads run other actors, and notes that the IPU is at `work` from then on. Returns
  /// when that was, in nanoseconds of steady_ns().
  std::int64_t begin_work(const IpuWork& work);
  /// In phased execution, brings the weights of `arena`'s stage for `work` if they are not there,
  /// and then tells the actor `stage` that they have come.
  void bring(const StageHandle& stage, std::int32_t replica, Arena& arena, const Work& work);
  /// Drops the weights of `arena`'s stage if `work` is the last of a turn after which they may not
  /// stay on the IPU.
  void end_turn(const Arena& arena, const Work& work);

  DeviceHandle::pointer self = nullptr;
  DeviceSetup setup;
};

DeviceHandle::behavior_type device_actor(DeviceHandle::stateful_pointer<DeviceState> self,
                                         DeviceSetup setup);

}  // namespace penstock::actors
