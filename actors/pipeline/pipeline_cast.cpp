#include "actors/pipeline/pipeline_cast.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "actors/pipeline/device_actor.hpp"
#include "actors/pipeline/feed_actor.hpp"
#include "actors/pipeline/gate_actor.hpp"
#include "actors/pipeline/host_store_actor.hpp"
#include "actors/pipeline/optimizer_actor.hpp"
#include "actors/pipeline/part_actor.hpp"
#include "actors/pipeline/reducer_actor.hpp"
#include "actors/pipeline/stage_actor.hpp"
#include "actors/pipeline/step_actor.hpp"
#include "actors/pipeline/supervisor_actor.hpp"
#include "actors/remote/proxy.hpp"
#include "actors/system/thread_entry.hpp"
#include "graph/plan/phases/residency.hpp"
#include "graph/values/memory.hpp"

namespace penstock::actors {
namespace {

class Casting {
 public:
  Casting(ActorSystem& system, std::shared_ptr<const PipelineSetup> setup,
          std::shared_ptr<HostCalls> host, std::shared_ptr<const UpdateRules> rules,
          std::vector<LinkHandle> links)
      : system_(system),
        setup_(std::move(setup)),
        host_(std::move(host)),
        pulse_(member_of(host_, &HostCalls::pulse)),
        rules_(std::move(rules)),
        links_(std::move(links)) {
    cast_.living = std::make_shared<LivingActors>(member_of(host_, &HostCalls::failure));
  }

  PipelineCast run() {
    try {
      spawn_all();
    } catch (...) {
      end(cast_);
      throw;
    }
    return std::move(cast_);
  }

 private:
  Watched watched(std::string name) const { return {std::move(name), cast_.living}; }
  /// Returns `name` and a watch, for an actor without which a weight update cannot go on.
  Watched updater(std::string name) const {
    return {std::move(name), LivingActors::of_updaters(cast_.living)};
  }

  template <class Body, class... Args>
  auto spawn(const std::string& name, RunsOn where, Body body, Args&&... args) {
    return spawn(watched(name), where, body, std::forward<Args>(args)...);
  }
  /// Spawns an actor and lists it in `others`. Room in the list is made before that: if there is no
  /// memory for it, no actor is spawned that the list does not have.
  template <class Body, class... Args>
  auto spawn(Watched subject, RunsOn where, Body body, Args&&... args) {
    Child& child = cast_.others.emplace_back(Child{{}, subject.name});
    auto handle = system_.spawn(where, std::move(subject), body, std::forward<Args>(args)...);
    child.actor = caf::actor_cast<caf::actor>(handle);
    return handle;
  }

  /// Spawns a proxy of the actor at `to`, which is in process number `process`.
  template <class Handle>
  Handle spawn_proxy(std::int32_t process, const Address& to) {
    const auto number = static_cast<std::size_t>(process);
    if (number >= links_.size() || !links_[number])
      throw Error(Errc::internal, "no link leads to process " + std::to_string(process) +
                                      ", which has the " + to_string(to));
    const std::string name = "proxy of " + to_string(to);
    const bool updates = to.role == Role::optimizer || to.role == Role::gate;
    return spawn(updates ? updater(name) : watched(name), RunsOn::workers, Proxy<Handle>::run, to,
                 links_[number]);
  }

  void spawn_all() {
    form_teams();
    spawn_hosts_actors();
    make_memory();
    share_sums();
    spawn_devices();
    for (std::int64_t replica = 0; replica < setup_->replicas; ++replica) spawn_stages(replica);
    if (setup_->plan->training) spawn_updaters();
    spawn_host_store();
    introduce();
    if (!links_.empty()) list_residents();
    std::ranges::reverse(cast_.others);
  }

  void spawn_hosts_actors() {
    if (!setup_->is_host()) {
      supervisor_ = cast_.supervisor =
          spawn_proxy<SupervisorHandle>(host_process, {Role::supervisor});
      step_ = cast_.step = spawn_proxy<StepHandle>(host_process, {Role::step});
      feed_ = spawn_proxy<FeedHandle>(host_process, {Role::feed});
      return;
    }
    const auto call = member_of(host_, &HostCalls::call);
    supervisor_ = cast_.supervisor =
        system_.spawn(RunsOn::own_thread, watched("supervisor"), supervisor_actor,
                      SupervisorSetup{setup_->stall_seconds, call,
                                      member_of(host_, &HostCalls::failure), pulse_});
    cast_.results = std::make_shared<OutputCollector>(setup_);
    step_ = cast_.step =
        spawn("step", RunsOn::workers, step_actor, setup_, call, pulse_, cast_.results);
    feed_ = spawn("feed", RunsOn::workers, feed_actor, setup_, pulse_, supervisor_);
  }

  /// Starts the threads of the IPUs. This is done before any actor is spawned, because the
  /// operating system may refuse so many threads.
  void form_teams() {
    const std::int32_t threads = setup_->plan->threads_per_ipu;
    for (std::int64_t replica = 0; replica < setup_->replicas; ++replica)
      for (std::size_t stage = 0; stage < setup_->stages(); ++stage) {
        if (!setup_->is_here(stage)) continue;
        const std::int32_t ipu = setup_->ipu(replica, stage);
        if (auto& team = teams_[ipu]; threads > 1 && !team)
          team = std::make_shared<ThreadTeam>("IPU " + std::to_string(ipu), threads);
      }
  }

  void make_memory() {
    for (std::int64_t replica = 0; replica < setup_->replicas; ++replica)
      for (std::size_t stage = 0; stage < setup_->stages(); ++stage) {
        auto& arena = arenas_.emplace_back();
        auto& update = updates_.emplace_back();
        if (!setup_->is_here(stage)) continue;
        auto& bytes = scratch_bytes_[setup_->ipu(replica, stage)];
        bytes = std::max(bytes, setup_->plan->stages[stage].scratch_bytes);
        auto& room_bytes = room_bytes_[setup_->ipu(replica, stage)][static_cast<std::size_t>(
            graph::room_of(setup_->plan->phases, static_cast<std::int32_t>(stage)))];
        room_bytes = std::max(room_bytes, setup_->plan->stages[stage].host_parameter_bytes);
        const Arena* const first = replica > 0 ? arenas_[stage].get() : nullptr;
        arena = std::make_shared<Arena>(setup_->plan, stage, setup_->live_micro_batches(), first);
        if (setup_->profile) arena->time_programs();
        if (!setup_->plan->training) continue;
        update = std::make_shared<WeightUpdate>(setup_, stage, arena, rules_, replica);
        update->set_state(update->new_state());
        bytes = std::max(bytes, update->staging_bytes());
      }
    for (const auto& [ipu, bytes] : scratch_bytes_)
      if (bytes > 0) scratch_[ipu] = allocate_block(static_cast<std::size_t>(bytes));
  }

  /// Tells every update which gradient sums it reads: those of its own stage, and those of the
  /// stages that have copies of its parameters.
  void share_sums() {
    if (!setup_->plan->training) return;
    if (setup_->replicas > 1) {
      for (std::size_t stage = 0; stage < setup_->stages(); ++stage) {
        reduced_.emplace_back();
        if (!setup_->is_here(stage)) continue;
        std::vector<std::shared_ptr<Arena>> replicas;
        for (std::size_t at = stage; at < arenas_.size(); at += setup_->stages())
          replicas.push_back(arenas_[at]);
        reduced_.back() = make_reduced_sums(*setup_, *rules_, stage, std::move(replicas));
      }
    }
    for (std::size_t at = 0; at < updates_.size(); ++at) {
      if (!updates_[at]) continue;
      const std::size_t stage_of_update = at % setup_->stages(), first = at - stage_of_update;
      const auto set_sums = [&](std::size_t stage) {
        updates_[at]->set_sums(
            static_cast<std::int32_t>(stage),
            {arenas_[first + stage], reduced_.empty() ? nullptr : reduced_[stage]});
      };
      set_sums(stage_of_update);
      for (const graph::VariablePlan& variable : setup_->plan->stages[stage_of_update].variables)
        for (const graph::CopyPlan& copy : variable.copies)
          set_sums(static_cast<std::size_t>(copy.stage));
    }
  }

  void spawn_devices() {
    std::vector<std::shared_ptr<const IpuPulse>> pulses;
    for (const auto& [ipu, bytes] : scratch_bytes_)
      pulses.push_back(pulses_[ipu] = std::make_shared<IpuPulse>(ipu));
    pulse_->watch(std::move(pulses));
    for (const auto& [ipu, bytes] : scratch_bytes_)
      devices_[ipu] = spawn(updater("IPU " + std::to_string(ipu)), system_.devices(), device_actor,
                            DeviceSetup{setup_, scratch_[ipu], bytes, supervisor_, teams_[ipu],
                                        rooms_of(ipu), pulses_[ipu]});
  }

  void spawn_stages(std::int64_t replica) {
    auto& stages = stages_.emplace_back();
    for (std::size_t stage = 0; stage < setup_->stages(); ++stage) {
      const std::string name = stage_name(*setup_, replica, stage);
      const std::size_t position = cast_.statuses.size();
      const auto& arena = arenas_[position];
      const auto& update = updates_[position];
      const auto r = static_cast<std::int32_t>(replica), s = static_cast<std::int32_t>(stage);
      cast_.memory.push_back({arena, update});
      if (!arena) {
        cast_.statuses.emplace_back();
        stages.push_back(
            spawn_proxy<StageHandle>(setup_->division.process_of(stage), {Role::stage, r, s}));
        if (setup_->plan->training) optimizers_.push_back(proxy_of_optimizer(r, s));
        continue;
      }
      cast_.statuses.push_back(std::make_shared<StatusBoard>(
          first_report(r, stage, *arena, update.get()), events_of_stage(*setup_)));
      if (update)
        optimizers_.push_back(spawn(updater("optimizer of " + name), RunsOn::workers,
                                    optimizer_actor, OptimizerSetup{setup_, r, s, arena, update}));
      stages.push_back(spawn(name, RunsOn::workers, stage_actor,
                             StageSetup{setup_, r, s, arena, cast_.statuses.back()}));
    }
  }

  /// Returns a proxy of the optimizer of a stage in another process. It is null except in the
  /// host's process, because only the gate and the supervisor know optimizers of other processes.
  OptimizerHandle proxy_of_optimizer(std::int32_t replica, std::int32_t stage) {
    if (!setup_->is_host()) return {};
    return spawn_proxy<OptimizerHandle>(
        setup_->division.process_of(static_cast<std::size_t>(stage)),
        {Role::optimizer, replica, stage});
  }

  /// Returns the report of a stage that has not done anything yet. `update` is null in inference.
  StageReport first_report(std::int32_t replica, std::size_t stage, Arena& arena,
                           const WeightUpdate* update) const {
    StageReport report;
    report.replica = replica;
    report.stage = static_cast<int>(stage);
    report.ipu = setup_->ipu(replica, stage);
    report.accumulators = arena.accumulator_moves();
    report.activations = arena.activation_moves();
    report.weights = arena.weight_moves();
    report.shared_bytes = shared_bytes(report.ipu);
    if (update) {
      report.optimizer_bytes_on_ipu = update->state_bytes_on_ipu();
      report.padding_bytes = update->state_padding_on_ipu();
      report.optimizer_state = update->state_moves();
    }
    report.peak_bytes = arena.bytes() + report.shared_bytes + report.optimizer_bytes_on_ipu;
    if (setup_->replicas > 1)
      report.bytes_shared_by_replicas = arena.stage().parameter_bytes +
                                        arena.stage().prepared_bytes +
                                        (update ? update->shared_state_bytes() : 0);
    return report;
  }

  void spawn_updaters() {
    if (setup_->is_host())
      gate_ = spawn(updater("gate"), RunsOn::workers, gate_actor, setup_,
                    member_of(host_, &HostCalls::updates), rules_);
    else
      gate_ = spawn_proxy<GateHandle>(host_process, {Role::gate});
    spawn_parts();
    if (setup_->replicas == 1) return;
    for (std::size_t stage = 0; stage < setup_->stages(); ++stage) {
      reducers_.emplace_back();
      if (setup_->is_here(stage))
        reducers_.back() = spawn("reducer of stage " + std::to_string(stage), RunsOn::workers,
                                 reducer_actor, setup_, static_cast<std::int32_t>(stage));
    }
  }

  /// Spawns the part of this process or, if this is the host's process, proxies of all parts.
  void spawn_parts() {
    if (!setup_->is_host()) {
      part_ = spawn("part", RunsOn::workers, part_actor, setup_, rules_);
      return;
    }
    for (std::size_t stage = 0; stage < setup_->stages(); ++stage)
      if (auto& part = parts_[setup_->division.process_of(stage)]; !part && !setup_->is_here(stage))
        part = spawn_proxy<PartHandle>(setup_->division.process_of(stage), {Role::part});
    parts_.erase(host_process);
  }

  void spawn_host_store() {
    const auto keeps_state = [](const auto& update) { return update && update->uses_host_store(); };
    const auto keeps_tensors = [](const auto& arena) {
      return arena &&
             (arena->stage().host_parameter_bytes > 0 ||
              arena->stage().host_accumulator_bytes > 0 || arena->stage().host_stash_bytes > 0);
    };
    if (std::ranges::any_of(updates_, keeps_state) || std::ranges::any_of(arenas_, keeps_tensors))
      host_store_ = spawn("host store", RunsOn::workers, host_store_actor, setup_);
  }

  std::array<WeightRoom, graph::rooms> rooms_of(std::int32_t ipu) const {
    const auto& [even, odd] = room_bytes_.at(ipu);
    return {WeightRoom(even), WeightRoom(odd)};
  }

  std::int64_t shared_bytes(std::int32_t ipu) const {
    const auto& [even, odd] = room_bytes_.at(ipu);
    return scratch_bytes_.at(ipu) + even + odd;
  }

  void introduce() {
    for (std::int64_t replica = 0; replica < setup_->replicas; ++replica)
      for (std::size_t stage = 0; stage < setup_->stages(); ++stage)
        if (setup_->is_here(stage)) introduce_stage(static_cast<std::size_t>(replica), stage);
    introduce_reducers();
    if (part_) caf::anon_send(part_, PartLinks{optimizers_here(), step_});
    if (setup_->is_host()) introduce_hosts_actors();
  }

  void introduce_reducers() {
    for (std::size_t stage = 0; stage < reducers_.size(); ++stage) {
      if (!reducers_[stage]) continue;
      ReducerLinks links;
      for (std::size_t at = stage; at < optimizers_.size(); at += setup_->stages())
        links.optimizers.push_back(optimizers_[at]);
      caf::anon_send(reducers_[stage], std::move(links));
    }
  }

  void introduce_hosts_actors() {
    caf::anon_send(feed_, FeedLinks{stages_, step_});
    caf::anon_send(step_, StepLinks{feed_, stages_, optimizers_here(), gate_, parts_});
    if (gate_) caf::anon_send(gate_, GateLinks{optimizers_, supervisor_});
    SupervisorLinks asked{{}, optimizers_, feed_, gate_};
    for (const auto& stages : stages_)
      asked.stages.insert(asked.stages.end(), stages.begin(), stages.end());
    caf::anon_send(supervisor_, std::move(asked));
  }

  void introduce_stage(std::size_t replica, std::size_t stage) {
    const StageHandle& self = stages_[replica][stage];
    const DeviceHandle& device =
        devices_.at(setup_->ipu(static_cast<std::int64_t>(replica), stage));
    StageLinks links{device, stages_[replica], {}, feed_, step_, supervisor_, host_store_};
    if (setup_->plan->training) {
      links.optimizer = optimizers_[replica * setup_->stages() + stage];
      caf::anon_send(links.optimizer,
                     OptimizerLinks{device, self, optimizers_of(replica),
                                    reducers_.empty() ? ReducerHandle{} : reducers_[stage], gate_,
                                    host_store_, supervisor_});
    }
    caf::anon_send(self, std::move(links));
  }

  void list_residents() {
    Residents& here = cast_.residents;
    for (std::size_t at = 0; at < arenas_.size(); ++at) {
      if (!arenas_[at]) continue;
      const std::size_t replica = at / setup_->stages(), stage = at % setup_->stages();
      const auto r = static_cast<std::int32_t>(replica), s = static_cast<std::int32_t>(stage);
      here.stages[{Role::stage, r, s}] = stages_[replica][stage];
      if (updates_[at]) here.optimizers[{Role::optimizer, r, s}] = optimizers_[at];
    }
    here.part = part_;
    if (!setup_->is_host()) return;
    here.feed = feed_;
    here.step = step_;
    here.gate = gate_;
    here.supervisor = supervisor_;
  }

  std::vector<OptimizerHandle> optimizers_here() const {
    std::vector<OptimizerHandle> here;
    for (std::size_t at = 0; at < optimizers_.size(); ++at)
      if (updates_[at]) here.push_back(optimizers_[at]);
    return here;
  }

  std::vector<OptimizerHandle> optimizers_of(std::size_t replica) const {
    const auto first =
        optimizers_.begin() + static_cast<std::ptrdiff_t>(replica * setup_->stages());
    return {first, first + static_cast<std::ptrdiff_t>(setup_->stages())};
  }

  ActorSystem& system_;
  std::shared_ptr<const PipelineSetup> setup_;
  std::shared_ptr<HostCalls> host_;
  std::shared_ptr<PipelinePulse> pulse_;
  std::shared_ptr<const UpdateRules> rules_;
  std::vector<LinkHandle> links_;  // These lead to the other processes, by their numbers.
  SupervisorHandle supervisor_;
  StepHandle step_;
  FeedHandle feed_;
  GateHandle gate_;
  HostStoreHandle host_store_;
  PartHandle part_;  // This is null in the host's process and in inference.
  // The keys are the numbers of the other processes that have stages. Only the host's process has
  // these.
  std::map<std::int32_t, PartHandle> parts_;
  // The arenas are in the order of replicas, and then of stages. Those of other processes are null.
  std::vector<std::shared_ptr<Arena>> arenas_;
  // The updates are in the order of the arenas. They are null in inference.
  std::vector<std::shared_ptr<WeightUpdate>> updates_;
  // This has the sums of each stage, or null for one of another process. It is empty if there is
  // only one replica.
  std::vector<std::shared_ptr<const ReducedSums>> reduced_;
  std::map<std::int32_t, std::shared_ptr<std::byte>> scratch_;  // The keys are the numbers of IPUs.
  std::map<std::int32_t, std::int64_t> scratch_bytes_;          // The keys are the numbers of IPUs.
  // The keys are the numbers of IPUs.
  std::map<std::int32_t, std::array<std::int64_t, graph::rooms>> room_bytes_;
  std::map<std::int32_t, std::shared_ptr<ThreadTeam>> teams_;  // The keys are the numbers of IPUs.
  std::map<std::int32_t, std::shared_ptr<IpuPulse>> pulses_;   // The keys are the numbers of IPUs.
  std::map<std::int32_t, DeviceHandle> devices_;               // The keys are the numbers of IPUs.
  // The stages are in the order of replicas, and then of stages.
  std::vector<std::vector<StageHandle>> stages_;
  std::vector<OptimizerHandle> optimizers_;  // The optimizers are in the order of `arenas_`.
  // This has the reducer of each stage, or null for one of another process. It is empty if there is
  // only one replica.
  std::vector<ReducerHandle> reducers_;
  PipelineCast cast_;
};

}  // namespace

PipelineCast spawn_pipeline(ActorSystem& system, std::shared_ptr<const PipelineSetup> setup,
                            std::shared_ptr<HostCalls> host,
                            std::shared_ptr<const UpdateRules> rules,
                            std::vector<LinkHandle> links) {
  return Casting(system, std::move(setup), std::move(host), std::move(rules), std::move(links))
      .run();
}

void find_out_why_nothing_moves(const PipelineSetup& setup, PipelinePulse& pulse,
                                const PipelineCast& cast, std::uint64_t beats,
                                double quiet_seconds) noexcept {
  try {
    caf::anon_send(cast.supervisor, NothingMoves{beats, quiet_seconds});
  } catch (const std::bad_alloc&) {
    if (any_at_work(pulse.ipus(), quiet_seconds, setup.stall_seconds)) pulse.excuse(beats);
  }
}

bool show_waits(const PipelineCast& cast, std::shared_ptr<WaitPicture> picture) noexcept {
  if (!try_to_enter_caf()) return false;
  try {
    caf::anon_send(cast.supervisor, ShowWaits{std::move(picture)});
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void end(const PipelineCast& cast) noexcept {
  tell_to_end(caf::actor_cast<caf::actor>(cast.supervisor));
  for (const Child& child : cast.others) tell_to_end(child.actor);
}

}  // namespace penstock::actors
