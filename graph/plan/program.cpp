#include "graph/plan/program.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "graph/ops/rules/units.hpp"
#include "graph/plan/staging_sizes.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/stopwatch.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

std::byte* base_of(const Location& location, const Bindings& bindings) {
  const auto index = static_cast<std::size_t>(location.index);
  switch (location.space) {
    case Space::parameters:
      return bindings.parameters;
    case Space::buffers:
      return bindings.buffers;
    case Space::weight_room:
      return bindings.weight_room;
    case Space::accumulators:
      return bindings.accumulators;
    case Space::host_accumulators:
      return bindings.host_accumulators;
    case Space::stash:
      return bindings.stash;
    case Space::host_stash:
      return bindings.host_stash;
    case Space::scratch:
      return bindings.scratch;
    case Space::received:
      return const_cast<std::byte*>(bindings.received[index]);
    case Space::sent_back:
      return bindings.sent_back[index];
    case Space::prepared:
      return bindings.prepared;
    case Space::outputs:
      return bindings.outputs;
  }
  return nullptr;
}

/// An Operands has an instruction's inputs or outputs. It needs no heap memory for up to 16 of
/// them, and most instructions have fewer. A thread-local list would need memory when a thread
/// begins, and the C library ends the process if there is no memory then.
class Operands {
 public:
  Operands(const std::vector<TensorType>& types, const std::vector<Location>& locations,
           const Bindings& bindings)
      : many_(types.size() > few_.size() ? types.size() : 0),
        operands_(many_.empty() ? std::span(few_).first(types.size()) : std::span(many_)) {
    for (std::size_t i = 0; i < types.size(); ++i)
      operands_[i] = {&types[i], base_of(locations[i], bindings) + locations[i].offset};
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  std::span<Operand> all() { return operands_; }

 private:
  std::array<Operand, 16> few_;
  std::vector<Operand> many_;
  std::span<Operand> operands_;
};

[[noreturn]] void rethrow(const Instruction& instruction, Errc code, const char* text) {
  throw Error(
      code, std::string(instruction.op->name) + " " + quoted_text(instruction.name) + ": " + text);
}

std::span<std::byte> workspace_of(const Instruction& instruction, const Bindings& bindings,
                                  std::int32_t part) {
  return {
      bindings.scratch + instruction.workspace_offset + part * aligned(instruction.workspace_bytes),
      static_cast<std::size_t>(instruction.workspace_bytes)};
}

bool is_staged(const Instruction& instruction) {
  return !instruction.inputs.empty() && instruction.inputs[0].space == Space::host_accumulators;
}

/// Returns which elements of a gradient sum the call adds to: the elements of the call's part.
Part summed_elements(const KernelCall& call) {
  return elements_of(call.part, line_elements, call.outputs[0].elements());
}

std::int64_t pieces_of(const Part& elements) {
  return (elements.end - elements.begin + program_piece - 1) / program_piece;
}

/// Adds a gradient to a sum in the host store. The sum comes into the workspace piece by piece, and
/// each piece goes back when it is done.
void add_in_pieces(const Op& op, const KernelCall& whole, Heartbeat* heartbeat) {
  const Part elements = summed_elements(whole);
  auto* const sum = static_cast<float*>(whole.inputs[0].data);
  auto* const more = static_cast<float*>(whole.inputs[1].data);
  void* const staged = whole.workspace.data();
  for (std::int64_t begin = elements.begin; begin < elements.end; begin += program_piece) {
    const std::int64_t count = std::min(program_piece, elements.end - begin);
    const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
    const TensorType type{DType::f32, {count}};
    const Operand inputs[] = {{&type, staged}, {&type, more + begin}};
    const Operand outputs[] = {{&type, staged}};
    std::memcpy(staged, sum + begin, bytes);
    KernelCall piece = whole;
    piece.inputs = inputs;
    piece.outputs = outputs;
    piece.part = {};
    op.forward(piece);
    std::memcpy(sum + begin, staged, bytes);
    if (heartbeat) heartbeat->beat_of_piece();
  }
}

void run_kernel(const Instruction& instruction, const KernelCall& call, Heartbeat* heartbeat) {
  if (is_staged(instruction))
    add_in_pieces(*instruction.op, call, heartbeat);
  else
    instruction.op->forward(call);
}

bool is_divided(const Sharing& sharing) {
  return sharing.parts > 1 || sharing.pieces > 1;
}

void count_sums(const Instruction& instruction, const KernelCall& whole, OffloadReport& moves) {
  const Sharing& sharing = instruction.sharing;
  std::int64_t pieces = 0;
  for (std::int32_t number = 0; number < sharing.parts * sharing.pieces; ++number) {
    KernelCall call = whole;
    if (is_divided(sharing)) call.part = piece_of(sharing, number);
    pieces += pieces_of(summed_elements(call));
  }
  const std::int64_t bytes = instruction.input_types[0].bytes();
  moves.loads += static_cast<std::uint64_t>(pieces);
  moves.stores += static_cast<std::uint64_t>(pieces);
  moves.loaded_bytes += bytes;
  moves.stored_bytes += bytes;
}

void count_transfer(const Instruction& instruction, OffloadReport& moves) {
  const bool load = instruction.transfer == Transfer::load;
  ++(load ? moves.loads : moves.stores);
  (load ? moves.loaded_bytes : moves.stored_bytes) += instruction.input_types[0].bytes();
}

void count_moves(const Instruction& instruction, const KernelCall& call, Moves& moves) {
  if (instruction.transfer != Transfer::none)
    count_transfer(instruction, moves.activations);
  else if (is_staged(instruction))
    count_sums(instruction, call, moves.accumulators);
}

void run_parts(const Instruction& instruction, const KernelCall& whole, const Bindings& bindings) {
  const std::int32_t parts = instruction.sharing.parts, pieces = instruction.sharing.pieces;
  const auto work = [&](std::int32_t part) {
    KernelCall call = whole;
    call.workspace = workspace_of(instruction, bindings, part);
    for (std::int32_t piece = part * pieces; piece < (part + 1) * pieces; ++piece) {
      call.part = piece_of(instruction.sharing, piece);
      run_kernel(instruction, call, bindings.heartbeat);
      if (bindings.heartbeat) bindings.heartbeat->beat_of_piece();
    }
  };
  if (bindings.runner && parts > 1) return bindings.runner->run(parts, std::ref(work));
  for (std::int32_t part = 0; part < parts; ++part) work(part);
}

void add_times(ProgramTimes& sum, const ProgramTimes& more) {
  sum.runs += more.runs;
  sum.nanoseconds.resize(std::max(sum.nanoseconds.size(), more.nanoseconds.size()));
  for (std::size_t i = 0; i < more.nanoseconds.size(); ++i)
    sum.nanoseconds[i] += more.nanoseconds[i];
}

/// Runs `program` and adds the time of each instruction to `times`. The clock is read once between
/// any two instructions.
void run_timed(const Program& program, const Bindings& bindings, ProgramTimes& times) {
  std::int64_t begin = steady_ns();
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    run(program.instructions[i], bindings);
    const std::int64_t end = steady_ns();
    times.nanoseconds[i] += end - begin;
    begin = end;
  }
  ++times.runs;
}

}  // namespace

void add_times(StageProgramTimes& sum, const StageProgramTimes& more) {
  add_times(sum.forward, more.forward);
  add_times(sum.backward, more.backward);
}

void make_inputs_valid(const Instruction& instruction, const Bindings& bindings) {
  if (!instruction.op->make_valid) return;
  Operands inputs(instruction.input_types, instruction.inputs, bindings);
  instruction.op->make_valid(instruction.attributes, inputs.all());
}

void run(const Instruction& instruction, const Bindings& bindings) {
  const bool first = bindings.summed == 0;
  if (first && !instruction.in_first) return;
  if (bindings.heartbeat) bindings.heartbeat->begin(&instruction);
  Operands inputs(instruction.input_types, instruction.inputs, bindings);
  const bool elsewhere = first && !instruction.first_outputs.empty();
  Operands outputs(instruction.output_types,
                   elsewhere ? instruction.first_outputs : instruction.outputs, bindings);
  RandomKey random = bindings.random;
  random.name = instruction.name_hash;
  const KernelCall call{instruction.attributes,
                        inputs.all(),
                        outputs.all(),
                        workspace_of(instruction, bindings, 0),
                        random,
                        bindings.loss_scale,
                        bindings.summed};
  try {
    if (is_divided(instruction.sharing))
      run_parts(instruction, call, bindings);
    else
      run_kernel(instruction, call, bindings.heartbeat);
  } catch (const Error& error) {
    rethrow(instruction, error.code(), error.what());
  } catch (const std::bad_alloc&) {
    rethrow(instruction, Errc::out_of_memory, "not enough memory");
  } catch (const std::exception& error) {
    rethrow(instruction, Errc::internal, error.what() ? error.what() : "an unknown exception");
  }
  if (bindings.moves) count_moves(instruction, call, *bindings.moves);
}

void run(const Program& program, const Bindings& bindings) {
  if (bindings.times) return run_timed(program, bindings, *bindings.times);
  for (const Instruction& instruction : program.instructions) run(instruction, bindings);
}

}  // namespace penstock::graph
