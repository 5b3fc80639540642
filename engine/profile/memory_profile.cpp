#include "engine/profile/memory_profile.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "graph/values/memory.hpp"

namespace penstock {
namespace {

using graph::Instruction;
using graph::Location;
using graph::Space;

/// LiveTensors are the sizes of the tensors that are in use, by where the tensors lie.
using LiveTensors = std::map<std::pair<Space, std::int64_t>, std::int64_t>;

/// Returns whether the stage keeps what lies at `location` until after the program.
bool is_kept(const Location& location) {
  return location.space == Space::stash || location.space == Space::outputs;
}

bool counts(const Location& location) {
  return location.space == Space::scratch || is_kept(location);
}

void add_tensors(LiveTensors& live, const std::vector<Location>& places,
                 const std::vector<graph::TensorType>& types) {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (counts(places[i])) {
      std::int64_t& bytes = live[{places[i].space, places[i].offset}];
      bytes = std::max(bytes, aligned(types[i].bytes()));
    }
}

std::int64_t workspace_of(const Instruction& instruction) {
  return instruction.sharing.parts * aligned(instruction.workspace_bytes);
}

std::int64_t bytes_of(const LiveTensors& live) {
  std::int64_t bytes = 0;
  for (const auto& [place, of_tensor] : live) bytes += of_tensor;
  return bytes;
}

/// Returns the bytes in use at each instruction of a program, going through the program from its
/// end. What a forward leaves in the stash is in use until after the forward's end.
std::vector<LivePoint> points_of(const graph::Program& program, bool backward) {
  LiveTensors live;
  if (!backward)
    for (const Instruction& instruction : program.instructions)
      for (std::size_t i = 0; i < instruction.outputs.size(); ++i)
        if (is_kept(instruction.outputs[i]))
          add_tensors(live, {instruction.outputs[i]}, {instruction.output_types[i]});
  std::vector<LivePoint> points(program.instructions.size());
  for (std::size_t i = points.size(); i-- > 0;) {
    const Instruction& instruction = program.instructions[i];
    add_tensors(live, instruction.outputs, instruction.output_types);
    add_tensors(live, instruction.inputs, instruction.input_types);
    points[i] = {.instruction = instruction.name,
                 .backward = backward,
                 .bytes = bytes_of(live) + workspace_of(instruction)};
    for (const Location& place : instruction.outputs)
      if (std::ranges::count(instruction.inputs, place) == 0)
        live.erase({place.space, place.offset});
  }
  return points;
}

/// Returns the bytes of the stage's parameters and buffers, of what is prepared from them, and of
/// the copies of buffers.
std::int64_t weight_bytes(const graph::StagePlan& stage) {
  return stage.parameter_bytes + stage.buffer_bytes + stage.prepared_bytes + stage.kept_bytes;
}

/// StageTensors are the tensors that one stage keeps in memory: weights, gradient sums, the
/// optimizer's state and the stash.
class StageTensors {
 public:
  StageTensors(const graph::Plan& plan, const StageReport& report, std::vector<TensorMemory>& rows)
      : plan_(plan),
        stage_(plan.stages[graph::index(report.stage)]),
        report_(report),
        rows_(rows) {}

  void list() {
    for (const graph::VariablePlan& variable : stage_.variables) add_variable(variable);
    for (const Instruction& instruction : stage_.prepare.instructions)
      for (std::size_t i = 0; i < instruction.outputs.size(); ++i)
        if (instruction.outputs[i].space == Space::prepared)
          add(instruction.name, MemoryClass::weights, instruction.output_types[i].bytes(), 1);
    add("buffers as of the last update", MemoryClass::weights, stage_.kept_bytes, 1);
    add("optimizer state", MemoryClass::optimizer_state, report_.optimizer_bytes_on_ipu, 1);
    add_kept(stage_.forward, Space::stash, stage_.in_flight);
    add_kept(stage_.forward, Space::outputs, stage_.output_slots);
    add_kept(stage_.backward, Space::outputs, stage_.output_slots);
    add("gradients on their way to other stages", MemoryClass::stash, sent_back_bytes(), 1);
  }

  /// Returns the bytes that the stage keeps for micro-batches: the stash, the outputs, and the
  /// gradients that are on their way to other stages.
  std::int64_t held_bytes() const {
    return report_.peak_bytes - report_.shared_bytes - report_.optimizer_bytes_on_ipu -
           weight_bytes(stage_) - stage_.accumulator_bytes;
  }

 private:
  std::int64_t sent_back_bytes() const {
    return held_bytes() - stage_.stash_bytes * stage_.in_flight -
           stage_.output_bytes * stage_.output_slots;
  }

  void add(const std::string& name, MemoryClass memory_class, std::int64_t bytes,
           std::int64_t copies) {
    if (bytes > 0) rows_.push_back({name, report_.stage, memory_class, bytes, copies});
  }

  /// Adds what `program` writes to `space`, which has `slots` slots.
  void add_kept(const graph::Program& program, Space space, std::int64_t slots) {
    for (const Instruction& instruction : program.instructions)
      for (std::size_t i = 0; i < instruction.outputs.size(); ++i)
        if (instruction.outputs[i].space == space)
          add(instruction.name, MemoryClass::stash,
              aligned(instruction.output_types[i].bytes()) * slots, slots);
  }

  void add_variable(const graph::VariablePlan& variable) {
    const std::string& name = plan_.variables[graph::index(variable.variable)].name;
    const std::int64_t bytes = variable.type.bytes();
    if (!graph::in_host_store(variable.home.space)) add(name, MemoryClass::weights, bytes, 1);
    std::int64_t sums = 0;
    for (const graph::GradientPlan& gradient : variable.gradients)
      sums += gradient.stage == report_.stage && gradient.home.space == Space::accumulators ? 1 : 0;
    add(name, MemoryClass::accumulators, bytes * sums, sums);
  }

  const graph::Plan& plan_;
  const graph::StagePlan& stage_;
  const StageReport& report_;
  std::vector<TensorMemory>& rows_;
};

void add_stage(IpuMemory& memory, const graph::Plan& plan, const StageReport& report) {
  const graph::StagePlan& stage = plan.stages[graph::index(report.stage)];
  StageTensors tensors(plan, report, memory.tensors);
  const auto bytes = [&](MemoryClass memory_class) -> std::int64_t& {
    return memory.class_bytes[static_cast<std::size_t>(memory_class)];
  };
  bytes(MemoryClass::weights) += weight_bytes(stage);
  bytes(MemoryClass::accumulators) += stage.accumulator_bytes;
  bytes(MemoryClass::optimizer_state) += report.optimizer_bytes_on_ipu;
  bytes(MemoryClass::stash) += tensors.held_bytes();
  bytes(MemoryClass::working) = report.shared_bytes;
  tensors.list();
}

}  // namespace

std::vector<LivePoint> live_points(const graph::StagePlan& stage) {
  std::vector<LivePoint> points = points_of(stage.forward, false);
  for (LivePoint& point : points_of(stage.backward, true)) points.push_back(std::move(point));
  return points;
}

void add_memory(Profile& profile, const graph::Plan& plan, std::span<const StageReport> reports,
                std::int64_t budget_bytes) {
  for (IpuProfile& ipu : profile.ipus) {
    ipu.memory.budget_bytes = budget_bytes;
    for (const StageReport& report : reports)
      if (report.ipu == ipu.ipu) add_stage(ipu.memory, plan, report);
    const std::int64_t working = ipu.memory.of(MemoryClass::working);
    if (working > 0)
      ipu.memory.tensors.push_back(
          {"scratch of the programs", -1, MemoryClass::working, working, 1});
    for (const std::int64_t bytes : ipu.memory.class_bytes) ipu.memory.peak_bytes += bytes;
    std::ranges::stable_sort(ipu.memory.tensors, std::greater<>{}, &TensorMemory::bytes);
  }
  for (StageProfile& stage : profile.stages) {
    stage.liveness = live_points(plan.stages[graph::index(stage.stage)]);
    for (const StageReport& report : reports) {
      if (report.stage != stage.stage) continue;
      const graph::StagePlan& of_plan = plan.stages[graph::index(stage.stage)];
      // Replicas that divide the optimizer's state may have shards of different sizes.
      stage.resident_bytes =
          std::max(stage.resident_bytes, weight_bytes(of_plan) + of_plan.accumulator_bytes +
                                             report.optimizer_bytes_on_ipu);
    }
  }
}

}  // namespace penstock
