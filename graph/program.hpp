// Runs a program: binds the places of a plan to memory and calls the kernels in order. The calling
// thread's work, but for parts that it hands to others; several threads may run programs over
// different memory.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "graph/heartbeat.hpp"
#include "graph/plan.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

/// Whoever runs the parts of an instruction side by side.
class PartRunner {
 public:
  virtual ~PartRunner() = default;
  /// Calls `work(part)` once for each from 0 to parts - 1, on any threads, and returns when all
  /// have returned. @throws what the first of the parts that failed did.
  virtual void run(std::int32_t parts, const std::function<void(std::int32_t)>& work) = 0;
};

/// What a program has copied from and to the host store's memory.
struct Moves {
  OffloadReport accumulators = {};
  OffloadReport activations = {};
};

/// Where the spaces of a plan lie for one run of one program; all 64-byte aligned.
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
  RandomKey random = {};  ///< without the op's name, which run() fills in
  float loss_scale = 1;
  PartRunner* runner = nullptr;    ///< null: parts run one after the other
  Moves* moves = nullptr;          ///< null: nobody counts, or nothing is kept in the host store
  Heartbeat* heartbeat = nullptr;  ///< null: nobody watches
};

/// Puts data that the instruction's op takes into those of its inputs that may not hold just
/// anything; see ops/valid_inputs.hpp.
void make_inputs_valid(const Instruction& instruction, const Bindings& bindings);
/// The heartbeat beats as the instruction begins, and after each piece of a long one.
/// @throws Error as the kernels do, opening with the op's and the node's name.
void run(const Instruction& instruction, const Bindings& bindings);
/// The instructions, one after the other.
void run(const Program& program, const Bindings& bindings);

}  // namespace penstock::graph
