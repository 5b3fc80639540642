// A PlanRunner executes a plan in the simplest way there is: the forwards of every micro-batch
// through all stages, then the backwards, all on the calling thread unless it is told who runs
// parts. Memory holds NaNs wherever the plan promises nothing, and has watched borders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/plan/plan.hpp"
#include "graph/plan/program.hpp"
#include "penstock/tensor.hpp"
#include "penstock/trace.hpp"

namespace penstock::testing {

class PlanRunner {
 public:
  /// Variables are drawn from their names, whatever the plan. The parts of instructions that are
  /// shared are given to `parts`; without one they run one after the other.
  explicit PlanRunner(graph::Plan plan, graph::PartRunner* parts = nullptr);

  /// Runs one window from zeroed accumulators. `micro_batches[m]` are the plan's inputs. Returns
  /// the plan's outputs of each.
  std::vector<std::vector<Tensor>> run(const std::vector<std::vector<Tensor>>& micro_batches);

  void set_variable(const std::string& name, const Tensor& value);
  Tensor variable(const std::string& name) const;
  /// The sum over the last window's micro-batches, one per use.
  std::vector<Tensor> gradients(const std::string& variable) const;

  const graph::Plan& plan() const { return plan_; }

 private:
  struct Stage;
  struct MicroBatch;

  Stage& stage_of(const graph::VariableInfo& info) const;
  const graph::VariablePlan& plan_of(const std::string& variable) const;
  void run_program(Direction direction, std::size_t stage, MicroBatch& batch);
  std::vector<const std::byte*> received(std::size_t stage, const MicroBatch& batch) const;
  std::vector<Tensor> outputs(const MicroBatch& batch) const;

  graph::Plan plan_;
  graph::PartRunner* parts_;
  std::vector<std::shared_ptr<Stage>> stages_;
};

/// Draws inputs for a window from a seed: by micro-batch, in the order of Plan::inputs.
std::vector<std::vector<Tensor>> random_inputs(const graph::Plan& plan, std::size_t micro_batches);

/// Returns everything that a window computes: outputs of each micro-batch, then gradients and
/// variables. `parts` is as PlanRunner's.
std::vector<Tensor> window_results(const graph::Plan& plan,
                                   const std::vector<std::vector<Tensor>>& inputs,
                                   graph::PartRunner* parts = nullptr);

}  // namespace penstock::testing
