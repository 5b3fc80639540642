// Runs a program: binds the places of a plan to memory and calls the kernels in order. The calling
// thread's work only; several threads may run programs over different memory.
#pragma once

#include <cstddef>
#include <span>

#include "graph/plan.hpp"

namespace penstock::graph {

/// Where the spaces of a plan lie for one run of one program; all 64-byte aligned.
struct Bindings {
  std::byte* parameters = nullptr;
  std::byte* accumulators = nullptr;
  std::byte* stash = nullptr;
  std::byte* scratch = nullptr;
  std::span<const std::byte* const> received = {};
  std::span<std::byte* const> sent_back = {};
  RandomKey random = {};  ///< without the op's name, which run() fills in
};

/// @throws Error as the kernels do, opening with the op's and the node's name.
void run(const Instruction& instruction, const Bindings& bindings);
/// The instructions, one after the other.
void run(const Program& program, const Bindings& bindings);

}  // namespace penstock::graph
