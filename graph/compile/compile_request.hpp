// A CompileRequest says what a plan is to be, besides the network for which it is made. It is plain
// data.
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
  /// Has the options that the compiler gets as the host has set them: those that the table of
  /// options (graph/values/option_fields.hpp) marks for it. If `automatic_stages` is not 0, the
  /// compiler cuts the network into so many stages wherever they are best balanced, each on the IPU
  /// that `ipus` says, or else on that of its own number; `stages` is empty then.
  Options options = {};
  /// Has the stages that the host names. If it names none, the option `stage_rule` finds them.
  std::vector<StageRequest> stages = {};
  /// Times the instructions for automatic stages. If `measure` is null, their costs are estimated.
  MeasureInstructions measure = {};
  const Schedule* schedule = nullptr;  ///< If it is null, the schedule is grouped.
  /// Phased execution goes with the schedule sequential.
  std::optional<PhaseRequest> phased = {};
  /// Counts the micro-batches from a full to an empty pipeline: those of a window in training, of a
  /// call in inference. They matter for the warnings and the expected utilisation only.
  std::int64_t gradient_accumulation = 1;
  /// Counts the worker threads that all IPUs share. 0 stands for as many as they need.
  std::int32_t threads = 0;
  GradientSum gradient_sum = GradientSum::sum;
  /// Replicas do not change a plan; they matter for the memory and a warning only.
  std::int64_t replicas = 1;
  /// Counts the threads that share the work of each kernel. 0 stands for `cores`, or `threads` if
  /// fewer, divided among the IPUs of all replicas, and fewer if their memory holds no more.
  std::int32_t threads_per_ipu = 1;
  /// Counts the cores of the machine. 0 says that they are unknown: nothing is divided or warned
  /// of.
  std::int32_t cores = 0;
  MemoryBudget memory = {};
  /// Says which classes of tensors the host store keeps; `memory` says it of the optimizer's state.
  /// Activations are kept there in training only.
  OffloadOptions offload = {};
  RecomputeRequest recompute = {};          ///< Has an effect in training only, and on no bit.
  std::vector<AnchorRequest> anchors = {};  ///< Has outputs besides the model's.
  CompileListener progress = {};            ///< May be null.
  bool in_place = true;  ///< Says whether outputs may overwrite inputs that nobody needs any more.
};

}  // namespace penstock::graph
