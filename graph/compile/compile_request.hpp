// A CompileRequest says how a plan is to be made of a network. It is plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/compile/automatic_stages.hpp"
#include "graph/compile/compile_clock.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "graph/passes/network/anchors.hpp"
#include "graph/passes/network/differentiate.hpp"
#include "graph/passes/stages/phase_assignment.hpp"
#include "graph/passes/stages/stages.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/options.hpp"

namespace penstock::graph {

struct CompileRequest {
  bool training = false;
  std::int64_t batch = 1;  ///< Counts the samples per micro-batch.
  /// Has the options that the compiler gets as the host has set them, which are those that the
  /// table of options (graph/values/option_fields.hpp) marks as `for_compiler`. If the option
  /// `automatic_stages` is not 0, the compiler cuts the network into that many stages, where they
  /// are best balanced. Each such stage is on the IPU that the option `ipus` says or, without that
  /// option, on the IPU of the stage's number; `CompileRequest::stages` is empty then.
  Options options = {};
  /// Has the stages that the host names. If it names none, the option `stage_rule` finds them.
  std::vector<StageRequest> stages = {};
  /// Measures the times of instructions, for automatic stages. If `measure` is null, the costs of
  /// the instructions are estimated.
  MeasureInstructions measure = {};
  const Schedule* schedule = nullptr;  ///< If it is null, the schedule is grouped.
  /// Asks for phased execution, with which the schedule is `sequential`.
  std::optional<PhaseRequest> phased = {};
  /// Counts the micro-batches that pass through the pipeline until it is empty: those of a window
  /// in training, or of a call in inference. Their number matters only for what the report expects
  /// and warns of.
  std::int64_t gradient_accumulation = 1;
  /// Counts the worker threads that all IPUs share. 0 says that each IPU has its own.
  std::int32_t threads = 0;
  GradientSum gradient_sum = GradientSum::sum;
  /// Counts the replicas. Their number matters for the memory of the IPUs, for a warning and, if
  /// `threads_per_ipu` is 0, for the threads of an IPU.
  std::int64_t replicas = 1;
  /// Counts the threads that share the work of each kernel. 0 says that the compiler chooses: it
  /// divides `cores`, or `threads` if that is less and not 0, by the number of IPUs of all
  /// replicas, and takes fewer threads if the IPUs' memory does not hold the scratch of so many.
  std::int32_t threads_per_ipu = 1;
  /// Counts the cores of the machine. 0 says that the number is unknown: then there is no warning
  /// of too many threads, and a `threads_per_ipu` of 0 stands for one thread.
  std::int32_t cores = 0;
  MemoryBudget memory = {};
  /// Says which classes of tensors the host store keeps, except that `memory` says whether it keeps
  /// the optimizer's state. The host store keeps activations in training only.
  OffloadOptions offload = {};
  RecomputeRequest recompute = {};          ///< Has an effect in training only, and changes no bit.
  std::vector<AnchorRequest> anchors = {};  ///< Asks for more outputs than the model's own.
  CompileListener progress = {};            ///< Is called before each step; may be null.
  bool in_place = true;  ///< Says whether outputs may overwrite inputs that nobody needs any more.
};

}  // namespace penstock::graph
