// A SmallNetwork is a small compiled model for tests of the actors, and a SmallEngine runs one. The
// model has four layers of equal cost, and a mean of squares as the loss. Each layer has a linear
// layer 8x8, a buffer that every micro-batch changes, and a probe that a test may hook. By default,
// each of the four layers is a stage.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/pipeline/pipeline_runtime.hpp"
#include "graph/ir/op.hpp"
#include "graph/passes/stages/phase_assignment.hpp"
#include "tests/support/pipeline_step.hpp"

namespace penstock::testing {

/// A ProbeRun is a run of a program that a probe sees.
struct ProbeRun {
  std::int64_t stage = 0;
  Direction direction = Direction::forward;
  graph::RandomKey key = {};
};

struct SmallEngineOptions {
  std::string schedule = "grouped";
  std::int64_t stages = 4;  ///< This is 1, 2 or 4.
  /// If this is set, execution is in phases, for which the schedule has to be "sequential".
  std::optional<graph::PhaseRequest> phased = {};
  bool tied = false;  ///< If this is true, all layers use the weight of the first one.
  /// If this is true, an op behind each layer squares its input. The op's gradient needs the input.
  bool squares = false;
  bool recompute = false;
  bool training = true;
  std::int64_t replicas = 1;
  std::int64_t gradient_accumulation = 8;
  double max_grad_norm = 0;
  bool offload = false;  ///< If this is true, the host store keeps every class of tensors.
  /// If this is true, the replicas divide the optimizer's state of every tensor.
  bool shards = false;
  Reduction reduction = Reduction::mean;
  OutputMode output_mode = OutputMode::all;
  std::int64_t output_period = 1;
  /// If this is true, there are three anchors: the second layer, the gradient of the second layer,
  /// and the gradient of the third layer's weight.
  bool anchors = false;
  bool trace = false;
  std::int64_t trace_events = 1 << 20;
  double stall_seconds = 60;
  std::string rule = "adamw";
  const graph::OptimizerRule* own_rule =
      nullptr;  ///< Unless this is null, it is used instead of `rule`.
  double momentum = 0;
  int threads = 2;
  bool deterministic = true;
  std::uint64_t seed = 0;
};

/// A SmallNetwork has the compiled network, and makes what the network's actors are given.
class SmallNetwork {
 public:
  /// This is an odd number, so that every other micro-batch of the inputs is misaligned and has to
  /// be copied.
  static constexpr std::int64_t batch = 3;
  static constexpr std::int64_t features = 8;

  explicit SmallNetwork(const SmallEngineOptions& options);

  const SmallEngineOptions& options() const { return options_; }
  const graph::Plan& plan() const { return *plan_; }
  actors::PipelineSetup setup() const;
  /// Returns the rules. The hyperparameter `alpha` of a variable's rule is the number of the
  /// variable's stage. The rules that most tests use do not read `alpha`.
  actors::UpdateRules rules() const;

  /// Returns the number of micro-batches per replica in `windows` windows. In inference, a window
  /// is one micro-batch.
  std::int64_t micro_batches(std::int64_t windows) const;
  /// Returns inputs for `windows` windows, which are the same for every network.
  std::vector<Tensor> inputs(std::int64_t windows) const;
  /// Returns the first values of the variables, in the order of Plan::variables. They are the same
  /// for every network.
  std::vector<Tensor> first_variables() const;

 private:
  SmallEngineOptions options_;
  std::shared_ptr<const graph::Plan> plan_;
};

class SmallEngine : public SmallNetwork {
 public:
  /// Makes an engine with the first variables written.
  explicit SmallEngine(const SmallEngineOptions& options = {});

  actors::PipelineRuntime& runtime() { return *runtime_; }
  void begin(std::int64_t windows) {
    runtime_->begin_step(inputs(windows), micro_batches(windows));
  }
  actors::Outputs step(std::int64_t windows) {
    return run_step(*runtime_, inputs(windows), micro_batches(windows)).outputs;
  }

 private:
  std::unique_ptr<actors::PipelineRuntime> runtime_;
};

/// While a ProbeHook lives, every probe calls `hook`, on the thread that runs the probe.
class ProbeHook {
 public:
  explicit ProbeHook(std::function<void(const ProbeRun&)> hook);
  ~ProbeHook();
  ProbeHook(const ProbeHook&) = delete;
  ProbeHook& operator=(const ProbeHook&) = delete;
};

/// Returns whether the tensors of `a` and `b` have the same types and the same elements, bit for
/// bit.
bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b);

}  // namespace penstock::testing
