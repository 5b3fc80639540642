// Compile: from a model's graph to a plan. Pure; the only file that knows every pass.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "graph/compile/automatic_stages.hpp"
#include "graph/ir/graph.hpp"
#include "graph/passes/memory/memory_budget.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "graph/passes/network/anchors.hpp"
#include "graph/passes/network/differentiate.hpp"
#include "graph/passes/stages/phase_assignment.hpp"
#include "graph/passes/stages/stages.hpp"
#include "graph/plan/plan.hpp"
#include "penstock/options.hpp"
#include "penstock/report.hpp"

namespace penstock::graph {

struct CompileRequest {
  bool training = false;
  std::int64_t batch = 1;                 ///< samples per micro-batch
  std::vector<StageRequest> stages = {};  ///< empty: as `stage_rule` says
  StageRule stage_rule = StageRule::by_block;
  std::vector<std::int32_t> ipus = {};  ///< of the stages that do not say; empty: as above
  /// 0: stages as above; else so many, cut by the compiler wherever they are best balanced, each on
  /// the IPU that `ipus` says or the one of its own number. `stages` is empty then.
  std::int32_t automatic_stages = 0;
  MeasureInstructions measure = {};         ///< for automatic stages; null: costs are estimated
  const Schedule* schedule = nullptr;       ///< null: grouped
  std::optional<PhaseRequest> phased = {};  ///< its schedule is sequential
  /// Micro-batches from a full to an empty pipeline: of a window in training, of a call in
  /// inference. For the warnings and the expected utilisation only.
  std::int64_t gradient_accumulation = 1;
  std::int32_t threads = 0;  ///< that the IPUs share; 0: enough
  GradientSum gradient_sum = GradientSum::sum;
  std::int64_t replicas = 1;  ///< for a warning and the memory only: they do not change a plan
  /// So many threads share the work of each kernel. 0 stands for `cores`, or `threads` if fewer,
  /// divided among the IPUs of all replicas, and fewer if their memory holds no more.
  std::int32_t threads_per_ipu = 1;
  std::int32_t cores = 0;  ///< of the machine; 0: unknown, nothing is divided or warned of
  MemoryBudget memory = {};
  /// What the host store keeps; of the optimizer's state `memory` says it. Activations in training
  /// only.
  OffloadOptions offload = {};
  RecomputeRequest recompute = {};          ///< in training; the same bits in any case
  std::vector<AnchorRequest> anchors = {};  ///< outputs besides the model's
  /// Called before each phase, with its name, how many are over, and how many there are.
  std::function<void(const char* phase, int done, int all)> progress = {};
  bool in_place = true;  ///< outputs may overwrite inputs that nobody needs any more
};

struct Compiled {
  Plan plan;
  CompileReport report;
};

/// @throws Error invalid_model (no loss in training, no output in inference), invalid_topology
/// (unknown block, block in two stages or in none, empty stage, a value used in an earlier stage
/// than the one that computes it, wrong number of IPUs, a buffer used in two stages, more automatic
/// stages than the model has pieces, a stage that cannot recompute, phases on IPUs that are not
/// theirs), out_of_memory (an IPU has not enough for its stages), invalid_argument (a
/// PENSTOCK_ISA that the machine lacks, an anchor on what is not there or has no gradient),
/// internal (a schedule under which the stages would wait for ever).
Compiled compile(const Graph& model, const CompileRequest& request);

}  // namespace penstock::graph
