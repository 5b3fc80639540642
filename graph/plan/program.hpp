// run() runs a program: it binds the places of a plan to memory and calls the kernels in order. The
// calling thread does the work, except for parts that it hands to others. Several threads may run
// programs over different memory.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "graph/plan/heartbeat.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

/// A PartRunner runs the parts of an instruction side by side.
class PartRunner {
 public:
  virtual ~PartRunner() = default;
  /// Calls `work(part)` once for each number from 0 to `parts` - 1, on any threads, and returns
  /// when all have returned. @throws what the lowest part that failed did.
  virtual void run(std::int32_t parts, const std::function<void(std::int32_t)>& work) = 0;
};

/// Moves counts what a program has copied from and to the host store's memory.
struct Moves {
  OffloadReport accumulators = {};
  OffloadReport activations = {};
};

/// Bindings say where a plan's spaces lie for one run of a program. All are 64-byte aligned.
struct Bindings {
  std::byte* parameters = nullptr;
  std::byte* weight_room = nullptr;
  std::byte* accumulators = nullptr;
  std::byte* host_accumulators = nullptr;  ///< in the host store's memory
  std::byte* stash = nullptr;
  std::byte* host_stash = nullptr;  ///< in the host store's memory
  std::byte* scratch = nullptr;
  std::span<const std::byte* const> received = {};
  std::span<std::byte* const> sent_back = {};
  RandomKey random = {};  ///< run() fills in the op's name
  float loss_scale = 1;
  PartRunner* runner = nullptr;    ///< if null, parts run one after the other
  Moves* moves = nullptr;          ///< null if nobody counts, or nothing is kept in the host store
  Heartbeat* heartbeat = nullptr;  ///< null if nobody watches
};

/// Puts data that the instruction's op accepts into those of its inputs that may not hold just any
/// data; see graph/ops/valid_inputs.hpp.
void make_inputs_valid(const Instruction& instruction, const Bindings& bindings);
/// Runs one instruction. The heartbeat beats as it begins, and after each piece of a long one.
/// @throws Error as the kernels do, opening with the op's and the node's name.
void run(const Instruction& instruction, const Bindings& bindings);
/// Runs the program's instructions one after the other.
void run(const Program& program, const Bindings& bindings);

}  // namespace penstock::graph
