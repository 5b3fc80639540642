// A PlanRunner executes a plan in the simplest way: the forwards of every micro-batch through all
// stages, and then the backwards. Everything runs on the calling thread, unless a PartRunner is
// given for the parts of instructions. Memory has NaNs wherever the plan promises nothing, and has
// borders that are watched.
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
  /// Draws the variables at random, with their names as seeds, so that a variable is the same in
  /// every plan. `parts` runs the parts of instructions that are divided; if `parts` is null, they
  /// run one after the other.
  explicit PlanRunner(graph::Plan plan, graph::PartRunner* parts = nullptr);

  /// Runs one window. `micro_batches[m]` are the plan's inputs for micro-batch m. Returns the
  /// plan's outputs of each micro-batch.
  std::vector<std::vector<Tensor>> run(const std::vector<std::vector<Tensor>>& micro_batches);

  void set_variable(const std::string& name, const Tensor& value);
  Tensor variable(const std::string& name) const;
  /// Returns the sums of the gradients of `variable` over the last window's micro-batches. Each use
  /// of the variable has a sum of its own.
  std::vector<Tensor> gradients(const std::string& variable) const;

  const graph::Plan& plan() const { return plan_; }

 private:
  struct Stage;
  struct MicroBatch;

  Stage& stage_of(const graph::VariableInfo& info) const;
  const graph::VariablePlan& plan_of(const std::string& variable) const;
  void prepare(std::size_t stage);
  void run_program(Direction direction, std::size_t stage, MicroBatch& batch);
  std::vector<const std::byte*> received(std::size_t stage, const MicroBatch& batch) const;
  std::vector<Tensor> outputs(const MicroBatch& batch) const;

  graph::Plan plan_;
  graph::PartRunner* parts_;
  std::vector<std::shared_ptr<Stage>> stages_;
};

/// Returns random inputs for each micro-batch of a window, in the order of Plan::inputs. They are
/// the same at every call.
std::vector<std::vector<Tensor>> random_inputs(const graph::Plan& plan, std::size_t micro_batches);

/// Returns everything that a window computes: the outputs of each micro-batch, then gradients and
/// variables. `parts` may be null, as in PlanRunner.
std::vector<Tensor> window_results(const graph::Plan& plan,
                                   const std::vector<std::vector<Tensor>>& inputs,
                                   graph::PartRunner* parts = nullptr);

}  // namespace penstock::testing
