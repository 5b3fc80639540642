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
  std::int64_t batch = 1;  ///< A micro-batch has this many samples.
  /// These are the options of the host that concern the compiler: those that the table of options
  /// (graph/values/option_fields.hpp) marks as `for_compiler`. If the option `automatic_stages` is
  /// not 0, the compiler cuts the network into that many stages where they are best balanced. Each
  /// such stage is on the IPU that the option `ipus` says or, without that option, on the IPU of
  /// the stage's number; `CompileRequest::stages` is empty then.
  Options options = {};
  /// These are the stages that the host names. If it names none, the option `stage_rule` says what
  /// the stages are.
  std::vector<StageRequest> stages = {};
  /// This function measures the times of instructions, for automatic stages. If it is null, the
  /// costs of the instructions are estimated.
  MeasureInstructions measure = {};
  const Schedule* schedule = nullptr;  ///< If this is null, the schedule is grouped.
  /// If this is set, execution is in phases, and the schedule is `sequential`.
  std::optional<PhaseRequest> phased = {};
  /// This is the number of micro-batches that pass through the pipeline until it is empty: those of
  /// a window in training, or of a call in inference. In training, no stage has memory for more
  /// micro-batches than this number.
  std::int64_t gradient_accumulation = 1;
  /// All IPUs share this many worker threads; 0 says that each IPU has a thread of its own.
  std::int32_t threads = 0;
  GradientSum gradient_sum = GradientSum::sum;
  /// This is the number of replicas. It matters for the memory of the IPUs, for a warning and, if
  /// `threads_per_ipu` is 0, for the threads of an IPU.
  std::int64_t replicas = 1;
  /// This many threads share the work of each kernel. 0 says that the compiler chooses: it divides
  /// `cores`, or `threads` if that is less and not 0, by the number of IPUs of all replicas, and
  /// takes fewer threads if the IPUs' memory does not hold the scratch of so many.
  std::int32_t threads_per_ipu = 1;
  /// The machine has this many cores. 0 says that the number is unknown: then there is no warning
  /// of too many threads, and a `threads_per_ipu` of 0 stands for one thread.
  std::int32_t cores = 0;
  MemoryBudget memory = {};
  /// These are the classes of tensors that the host store keeps, except that `memory` says whether
  /// it keeps the optimizer's state. The host store keeps activations in training only.
  OffloadOptions offload = {};
  RecomputeRequest recompute = {};  ///< This has an effect in training only, and changes no bit.
  std::vector<AnchorRequest> anchors = {};  ///< These are outputs besides the model's own.
  CompileListener progress = {};            ///< This is called before each step; it may be null.
  /// If this is true, outputs may overwrite inputs that nobody needs any more.
  bool in_place = true;
  /// If this is true, what depends on weights alone is computed once, and not in each forward,
  /// where the memory of the IPUs holds it. This has an effect in inference only, and changes no
  /// bit.
  bool prepare = true;
};

}  // namespace penstock::graph
