// measure_plan() finds what the instructions of a plan cost on this machine. It uses the calling
// thread, and memory of its own for the time of the call.
#pragma once

#include "graph/compile/automatic_stages.hpp"
#include "graph/plan/plan.hpp"

namespace penstock {

/// Runs a plan of one stage over made-up data a few times, for about a tenth of a second (longer
/// where three runs take longer), and returns the least time of each instruction. An op that
/// refuses some data is given data that it accepts, so that no model is refused for made-up data.
/// @throws Error out_of_memory.
graph::InstructionTimes measure_instructions(const graph::Plan& one_stage);

}  // namespace penstock
