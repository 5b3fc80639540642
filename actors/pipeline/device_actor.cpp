#include "actors/pipeline/device_actor.hpp"

#include <exception>
#include <string>

#include "actors/execution/flush_denormals.hpp"
#include "actors/system/errors.hpp"
#include "actors/system/workers.hpp"
#include "graph/values/stopwatch.hpp"

namespace penstock::actors {
namespace {

/// Returns a description of the run that `request` asks for, without what the IPU adds to it:
/// memory, threads and heartbeat.
ProgramRun described(const PipelineSetup& setup, const RunProgram& request) {
  const auto window = setup.gradient_accumulation;
  const std::int64_t micro_batch = request.work.micro_batch, summed = micro_batch % window;
  const std::int64_t update = request.constants.first_update + micro_batch / window;
  return {.direction = request.work.direction,
          .micro_batch = micro_batch,
          .summed = summed,
          .random = {.seed = setup.seed,
                     .update = static_cast<std::uint64_t>(update),
                     .replica = static_cast<std::uint32_t>(request.replica),
                     .micro_batch = static_cast<std::uint32_t>(summed)},
          .loss_scale = request.constants.loss_scale};
}

}  // namespace

void DeviceState::start(DeviceHandle::pointer actor, DeviceSetup new_setup) {
  self = actor;
  setup = std::move(new_setup);
}

std::int64_t DeviceState::begin_work(const IpuWork& work) {
  let_others_work(self->context());
  setup.pulse->begin(work);
  return steady_ns();
}

template <class Run, class What>
std::optional<std::int64_t> DeviceState::run_or_report(const IpuWork& work, Run run, What what) {
  const std::int64_t begin = begin_work(work);
  try {
    const FlushDenormals flush;
    run();
  } catch (...) {
    setup.pulse->end();
    const std::exception_ptr exception = std::current_exception();
    const bool no_memory = code_of(exception, Errc::stage_failed) == Errc::out_of_memory;
    self->send(setup.supervisor,
               Failed{{no_memory ? Errc::out_of_memory : Errc::stage_failed,
                       what() + ": " + text_of(exception), work.task == IpuTask::update}});
    return {};
  }
  setup.pulse->end();
  return begin;
}

WeightRoom& DeviceState::room_of(const Arena& arena) {
  return setup.weight_rooms[static_cast<std::size_t>(
      graph::room_of(setup.pipeline->plan->phases, static_cast<std::int32_t>(arena.number())))];
}

void DeviceState::bring(const StageHandle& stage, std::int32_t replica, Arena& arena,
                        const Work& work) {
  WeightRoom& room = room_of(arena);
  if (arena.stage().host_parameter_bytes == 0 || room.holds(arena)) return;
  const std::int64_t begin = begin_work(
      {IpuTask::load, replica, static_cast<std::int32_t>(arena.number()), work.micro_batch});
  room.bring(arena, &setup.pulse->heartbeat());
  setup.pulse->end();
  self->send(stage, WeightsBrought{work, begin, steady_ns()});
}

void DeviceState::end_turn(const Arena& arena, const Work& work) {
  const graph::Plan& plan = *setup.pipeline->plan;
  const graph::Phases& phases = plan.phases;
  const std::int64_t next = work.micro_batch + 1;
  if (phases.turn_begin(next) != next) return;
  const graph::Turn turn{phases.of_stage[arena.number()], work.direction};
  WeightRoom& room = room_of(arena);
  if (room.holds(arena) && graph::leaves_after(phases, turn, plan.training)) room.drop();
}

void DeviceState::on_bring_weights(BringWeights& request) {
  bring(request.stage, request.replica, *request.arena, request.work);
}

void DeviceState::on_run_program(RunProgram& request) {
  const bool phased = !setup.pipeline->plan->phases.none();
  if (phased) bring(request.stage, request.replica, *request.arena, request.work);
  graph::Heartbeat* const heartbeat = &setup.pulse->heartbeat();
  const auto run = [&] {
    ProgramRun program = described(*setup.pipeline, request);
    program.scratch = setup.scratch.get();
    program.weight_room = room_of(*request.arena).bring(*request.arena, heartbeat);
    program.runner = setup.team.get();
    program.heartbeat = heartbeat;
    request.arena->run(program);
  };
  const auto what = [&] {
    return stage_name(*setup.pipeline, request.replica, request.arena->number()) + ", " +
           std::string(to_string(request.work.direction)) + " of micro-batch " +
           std::to_string(request.work.micro_batch);
  };
  const bool forward = request.work.direction == Direction::forward;
  const IpuWork work{forward ? IpuTask::forward : IpuTask::backward, request.replica,
                     static_cast<std::int32_t>(request.arena->number()), request.work.micro_batch};
  const std::optional<std::int64_t> begin = run_or_report(work, run, what);
  if (!begin) return;
  if (phased) end_turn(*request.arena, request.work);
  self->send(request.stage, ProgramDone{request.work, *begin, steady_ns()});
}

void DeviceState::on_run_update(RunUpdate& request) {
  const auto run = [&] {
    request.update->run(request.order,
                        {setup.scratch.get(), static_cast<std::size_t>(setup.scratch_bytes)},
                        setup.team.get(), &setup.pulse->heartbeat());
  };
  const auto what = [&] { return request.subject + ", weight update"; };
  const std::optional<std::int64_t> begin =
      run_or_report({IpuTask::update, request.replica, request.stage}, run, what);
  if (!begin) return;
  request.answer->message() = {request.order.round, *begin, steady_ns()};
  request.answer->send(request.optimizer, self->context());
}

DeviceHandle::behavior_type device_actor(DeviceHandle::stateful_pointer<DeviceState> self,
                                         DeviceSetup setup) {
  self->state.start(self, std::move(setup));
  return {[=](RunProgram& request) { self->state.on_run_program(request); },
          [=](BringWeights& request) { self->state.on_bring_weights(request); },
          [=](RunUpdate& request) { self->state.on_run_update(request); }};
}

}  // namespace penstock::actors
