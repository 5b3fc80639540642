#include "engine/compile_request.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "actors/system/owning_process.hpp"
#include "actors/system/system_options.hpp"
#include "engine/measure_plan.hpp"
#include "engine/model/parameter_rules.hpp"
#include "graph/plan/schedules/schedules.hpp"
#include "graph/values/option_fields.hpp"
#include "graph/values/out_of_memory.hpp"

namespace penstock {
namespace {

/// Copies the options that are marked `for_compiler` in their rows.
template <OptionGroup Group>
void copy_for_compiler(const Group& from, Group& to);

template <class Field>
void copy_for_compiler(const OptionRow<const Field>& from, const OptionRow<Field>& to) {
  if (from.rule.for_compiler)
    to.field = from.field;
  else if constexpr (OptionGroup<Field>)
    copy_for_compiler(from.field, to.field);
}

template <OptionGroup Group>
void copy_for_compiler(const Group& from, Group& to) {
  const auto copy = [&]<std::size_t... I>(const auto& from_rows, const auto& to_rows,
                                          std::index_sequence<I...>) {
    (copy_for_compiler(std::get<I>(from_rows), std::get<I>(to_rows)), ...);
  };
  const auto rows = option_rows(from);
  copy(rows, option_rows(to), std::make_index_sequence<std::tuple_size_v<decltype(rows)>>());
}

/// Returns default options in which only the options that are marked for the compiler are those of
/// `options`.
Options for_compiler(const Options& options) {
  Options copied;
  copy_for_compiler(options, copied);
  return copied;
}

const graph::Schedule& schedule_of(const Topology& topology) {
  const bool in_turns = topology.strategy != Strategy::pipelined;
  return graph::find_schedule(in_turns ? "sequential" : to_string(topology.schedule));
}

std::optional<graph::PhaseRequest> phases_of(const Options& options, bool training) {
  const PhasedOptions& phased = options.topology.phased;
  if (!is_phased(options.topology.strategy)) return std::nullopt;
  graph::PhaseRequest request{
      .parallel = options.topology.strategy == Strategy::parallel_phased,
      .liveness = phased.liveness,
      .separate_backward = phased.separate_backward_phase,
      .turn = training && phased.batch_serial ? options.training.gradient_accumulation : 1};
  for (const Phase& phase : phased.phases)
    request.stages.push_back(static_cast<std::int32_t>(phase.stages.size()));
  return request;
}

graph::MemoryBudget budget_for(const Options& options, const Optimizer* optimizer,
                               const std::vector<std::string>& trainable) {
  graph::MemoryBudget budget{.bytes = options.topology.ipu_memory_bytes,
                             .offload_state = offload_of(options).optimizer_state,
                             .shard_state = options.training.sharding.optimizer_state,
                             .replicas = options.topology.replication_factor};
  if (!optimizer) return budget;
  std::map<std::string, graph::KeptState> kept;
  const auto rules = parameter_rules(*optimizer, trainable);
  for (std::size_t i = 0; i < trainable.size(); ++i)
    kept[trainable[i]] = {.tensors = static_cast<std::int32_t>(state_of(rules[i]).size()),
                          .elementwise = rules[i].rule->elementwise};
  budget.state = [=](const std::string& name) { return kept.at(name); };
  return budget;
}

std::function<void(const char*, int, int)> progress_listener(const Options& options) {
  if (!options.runtime.compile_progress) return {};
  // The start of the actors, which comes after compiling, counts as one step more.
  return [tell = options.runtime.compile_progress, process = actors::OwningProcess()](
             const char* step, int done, int all) {
    const CompileProgress progress{step, static_cast<double>(done) / (all + 1)};
    call_host([&] { tell(progress); });
    // The host's function may have forked this process.
    process.expect_current("the model that is being compiled");
  };
}

}  // namespace

graph::CompileRequest compile_request(const Options& options, const Optimizer* optimizer,
                                      const std::vector<std::string>& trainable,
                                      bool beside_another) {
  const bool training = optimizer != nullptr;
  graph::CompileRequest request{
      .training = training,
      .batch = options.batch_size,
      .options = for_compiler(options),
      .measure = beside_another ? graph::MeasureInstructions{} : measure_instructions,
      .schedule = &schedule_of(options.topology),
      .phased = phases_of(options, training),
      .gradient_accumulation =
          training ? options.training.gradient_accumulation : options.device_iterations,
      .threads = actors::worker_threads({.threads = options.runtime.threads}),
      .gradient_sum = options.training.reduction_strategy == ReductionStrategy::running
                          ? graph::GradientSum::running_mean
                          : graph::GradientSum::sum,
      .replicas = options.topology.replication_factor,
      .threads_per_ipu = options.topology.threads_per_ipu,
      .cores = actors::worker_threads({}),
      .memory = budget_for(options, optimizer, trainable),
      .offload = offload_of(options),
      .recompute = {.on = options.training.recompute,
                    .stages = {options.training.recompute_stages.begin(),
                               options.training.recompute_stages.end()}}};
  for (const Stage& stage : options.topology.stages)
    request.stages.push_back({stage.blocks, stage.ipu});
  for (const Phase& phase : options.topology.phased.phases)
    for (const Stage& stage : phase.stages) request.stages.push_back({stage.blocks, stage.ipu});
  for (const Anchor& anchor : options.output.anchors)
    request.anchors.push_back({anchor.tensor, anchor.gradient});
  if (!beside_another) request.progress = progress_listener(options);
  return request;
}

void tell_ready(const Options& options) {
  if (const auto progress = progress_listener(options)) progress("", 1, 0);
}

}  // namespace penstock
