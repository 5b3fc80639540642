// run() executes a program: it binds the places of a plan to memory and calls the kernels in order.
// The calling thread does the work, except for parts that a PartRunner hands to other threads.
// Several threads may run programs over different memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/plan/heartbeat.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

/// A PartRunner runs the parts of an instruction side by side.
class PartRunner {
 public:
  virtual ~PartRunner() = default;
  /// Calls `work(part)` once for each number from 0 to `parts` - 1, on any threads, and returns
  /// when all calls have returned. @throws the exception of the lowest part whose call has thrown
  /// one.
  virtual void run(std::int32_t parts, const std::function<void(std::int32_t)>& work) = 0;
};

/// A Moves counts what a program has copied from and to the host store's memory.
struct Moves {
  OffloadReport accumulators = {};
  OffloadReport activations = {};
};

/// A ProgramTimes says how long the instructions of one program took, in those of its runs that
/// were timed.
struct ProgramTimes {
  std::uint64_t runs = 0;  ///< This many runs were timed.
  /// `nanoseconds` has the total time of each instruction in the timed runs.
  std::vector<std::int64_t> nanoseconds = {};
};

/// A StageProgramTimes has the times of both programs of a stage.
struct StageProgramTimes {
  ProgramTimes forward = {};
  ProgramTimes backward = {};
};

/// Adds the times `more`, which are of further runs of the same programs, to `sum`.
void add_times(StageProgramTimes& sum, const StageProgramTimes& more);

/// A Bindings says where a plan's spaces lie for one run of a program. All addresses are 64-byte
/// aligned.
struct Bindings {
  std::byte* parameters = nullptr;
  std::byte* buffers = nullptr;
  std::byte* weight_room = nullptr;
  std::byte* accumulators = nullptr;
  std::byte* host_accumulators = nullptr;  ///< This memory is the host store's.
  std::byte* stash = nullptr;
  std::byte* host_stash = nullptr;  ///< This memory is the host store's.
  std::byte* scratch = nullptr;
  std::span<const std::byte* const> received = {};
  std::span<std::byte* const> sent_back = {};
  std::byte* prepared = nullptr;
  std::byte* outputs = nullptr;
  /// `random` is the key of the random numbers. run() adds the name of each instruction's node.
  RandomKey random = {};
  float loss_scale = 1;
  std::int64_t summed = 0;  ///< The gradient sums have this many micro-batches in them already.
  PartRunner* runner = nullptr;  ///< If `runner` is null, parts run one after the other.
  /// `moves` counts the copies to and from the host store. The pointer is null if the copies are
  /// not counted, or if the host store keeps nothing.
  Moves* moves = nullptr;
  Heartbeat* heartbeat = nullptr;  ///< If `heartbeat` is null, the run is not watched.
  /// `times` gets the time of each instruction; its list has an element for each instruction
  /// already. The pointer is null if the run is not timed.
  ProgramTimes* times = nullptr;
};

/// Puts data that the instruction's op accepts into those inputs of the instruction that may not
/// hold arbitrary data; see Op::make_valid.
void make_inputs_valid(const Instruction& instruction, const Bindings& bindings);
/// Runs one instruction. The heartbeat beats when the instruction begins, and after each piece of a
/// long instruction.
/// @throws Error as the kernels do, with a text that begins with the names of the op and of the
/// node.
void run(const Instruction& instruction, const Bindings& bindings);
/// Runs the instructions of `program` one after the other.
void run(const Program& program, const Bindings& bindings);

}  // namespace penstock::graph
