#include "engine/measure_plan.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "actors/execution/flush_denormals.hpp"
#include "graph/plan/program.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/stopwatch.hpp"

namespace penstock {
namespace {

using Block = std::shared_ptr<std::byte>;

constexpr int least_rounds = 3;  // The first round only warms up the machine.
constexpr int most_rounds = 12;
constexpr double seconds_limit = 0.1;

/// Fills the memory with numbers of either sign, none of which is denormal, because denormals take
/// longer than other numbers.
void fill(const graph::TensorType& type, std::byte* data) {
  if (type.dtype != DType::f32) return;
  auto* values = reinterpret_cast<float*>(data);
  for (std::int64_t i = 0; i < type.shape.elements(); ++i)
    values[i] = 0.01f * static_cast<float>((i * 37) % 19 - 9) + 0.005f;
}

/// A Workbench has the memory of the plan's one stage for one micro-batch. The plan keeps nothing
/// in the host store.
class Workbench {
 public:
  explicit Workbench(const graph::Plan& plan)
      : stage_(plan.stages[0]),
        parameters_(block(stage_.parameter_bytes)),
        buffers_(block(stage_.buffer_bytes)),
        prepared_(block(stage_.prepared_bytes)),
        accumulators_(block(stage_.accumulator_bytes)),
        stash_(block(stage_.stash_bytes)),
        outputs_(block(stage_.output_bytes)),
        scratch_(block(stage_.scratch_bytes)) {
    for (const graph::VariablePlan& variable : stage_.variables)
      fill(variable.type,
           (variable.home.space == graph::Space::buffers ? buffers_ : parameters_).get() +
               variable.home.offset);
    for (const std::int32_t position : stage_.forward_receives) {
      const graph::Edge& edge = plan.edges[graph::index(position)];
      inputs_.push_back(block(edge.type.bytes()));
      fill(edge.type, inputs_.back().get());
      received_.push_back(inputs_.back().get());
    }
    for (const graph::Instruction& instruction : stage_.prepare.instructions) {
      graph::make_inputs_valid(instruction, bindings());
      graph::run(instruction, bindings());
    }
  }

  /// Runs the program of `direction` as for the second micro-batch of a window, in which gradients
  /// are added to sums, and lowers the time of each instruction in `times` to the
  /// time that it takes now, if that is less.
  void run(Direction direction, std::vector<double>& times) const {
    const graph::Program& program =
        direction == Direction::forward ? stage_.forward : stage_.backward;
    const graph::Bindings bindings = this->bindings();
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      // Earlier instructions may have made numbers that a trained model never would.
      graph::make_inputs_valid(program.instructions[i], bindings);
      times[i] = std::min(times[i], seconds_of(program.instructions[i], bindings));
    }
  }

 private:
  graph::Bindings bindings() const {
    return {.parameters = parameters_.get(),
            .buffers = buffers_.get(),
            .accumulators = accumulators_.get(),
            .stash = stash_.get(),
            .scratch = scratch_.get(),
            .received = received_,
            .prepared = prepared_.get(),
            .outputs = outputs_.get(),
            .summed = 1};
  }

  /// Runs an instruction, and returns how long that took. Code of the host's, which these numbers
  /// may be no inputs for, is not run; its time is estimated.
  static double seconds_of(const graph::Instruction& instruction, const graph::Bindings& bindings) {
    constexpr double work_a_second = 1e9;
    if (instruction.op->runs_code_of_host)
      return instruction.op
                 ->cost(instruction.attributes, instruction.input_types, instruction.output_types)
                 .work() /
             work_a_second;
    const Stopwatch watch;
    graph::run(instruction, bindings);
    return watch.seconds();
  }

  static Block block(std::int64_t bytes) { return allocate_block(static_cast<std::size_t>(bytes)); }

  const graph::StagePlan& stage_;
  Block parameters_, buffers_, prepared_, accumulators_, stash_, outputs_, scratch_;
  std::vector<Block> inputs_;
  std::vector<const std::byte*> received_;
};

graph::InstructionTimes unknown_times(const graph::StagePlan& stage) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {std::vector<double>(stage.forward.instructions.size(), infinity),
          std::vector<double>(stage.backward.instructions.size(), infinity)};
}

}  // namespace

graph::InstructionTimes measure_instructions(const graph::Plan& one_stage) {
  const graph::StagePlan& stage = one_stage.stages[0];
  const actors::FlushDenormals as_in_a_run;
  const Workbench bench(one_stage);
  graph::InstructionTimes times = unknown_times(stage);
  const Stopwatch watch;
  for (int round = 0;
       round < least_rounds || (round < most_rounds && watch.seconds() < seconds_limit); ++round) {
    bench.run(Direction::forward, times.forward);
    bench.run(Direction::backward, times.backward);
  }
  return times;
}

}  // namespace penstock
