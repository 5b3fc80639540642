#include "graph/compile/compile.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "graph/compile/build_plan.hpp"
#include "graph/compile/idle_sharding.hpp"
#include "graph/compile/offload_choices.hpp"
#include "graph/kernels/isa.hpp"
#include "graph/ops/norms/batch_norm2d.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/passes/memory/recompute.hpp"
#include "graph/passes/network/choose_layouts.hpp"
#include "graph/passes/network/differentiate.hpp"
#include "graph/passes/network/final_loss.hpp"
#include "graph/passes/network/fuse.hpp"
#include "graph/passes/network/inference_form.hpp"
#include "graph/passes/network/prune.hpp"
#include "graph/passes/plan/compile_report.hpp"
#include "graph/passes/stages/find_stages.hpp"
#include "graph/passes/stages/partition.hpp"
#include "graph/passes/stages/stage_assignment.hpp"
#include "graph/plan/replica_ipus.hpp"
#include "graph/plan/schedules/grouped.hpp"
#include "graph/values/printable.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

void expect_results(const Graph& model, bool training) {
  const auto refuse = [&](const std::string& text) {
    throw Error(Errc::invalid_model, "model " + quoted_text(model.name) + ": " + text);
  };
  if (!training && model.outputs.empty()) refuse("has no output, and inference needs one");
  for (const Output& output : model.outputs)
    if (model.value(output.value).producer == none)
      refuse("the output " + quoted_text(output.name) + " is not computed by any layer");
}

/// The values that a plan is made for.
std::vector<ValueId> wanted_values(const Graph& graph, bool training) {
  std::vector<ValueId> wanted;
  if (training) wanted.push_back(graph.loss);
  for (const Output& output : graph.outputs) wanted.push_back(output.value);
  for (const GradientAnchor& gradient : graph.gradients) wanted.push_back(gradient.value);
  return wanted;
}

class Compilation {
 public:
  Compilation(const Graph& model, const CompileRequest& request)
      : model_(model), request_(request) {
    if (request.batch < 1)
      throw Error(Errc::invalid_argument, "expected at least one sample per micro-batch, got " +
                                              std::to_string(request.batch));
    isa();  // refuses a PENSTOCK_ISA that the machine lacks here, not in the first kernel
  }

  Compiled run() {
    const auto start = Clock::now();
    divide();
    phase("memory", [&] { compiled_.plan = plan_that_fits(); });
    phase("report", [&] { describe(); });
    compiled_.report.phases = std::move(phases_);
    compiled_.report.seconds = seconds_since(start);
    return std::move(compiled_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  template <class Work>
  void phase(const char* name, Work work) {
    const int done = static_cast<int>(phases_.size());
    if (request_.progress) request_.progress(name, done, request_.training ? 7 : 6);
    const auto start = Clock::now();
    work();
    phases_.push_back({name, seconds_since(start)});
  }

  /// All that comes before a plan.
  void divide() {
    phase("shapes", [&] { prepare(); });
    if (request_.automatic_stages == 0) phase("stages", [&] { assign(); });
    phase("layouts", [&] { choose(); });
    if (request_.training) phase("gradients", [&] { add_gradients(); });
    if (request_.automatic_stages > 0) phase("stages", [&] { cut_graph(); });
    phase("partition", [&] { partition_ = partition(graph_, assignment_); });
  }

  void prepare() {
    if (request_.automatic_stages > 0) expect_no_stages(model_, request_.automatic_stages);
    graph_ = with_batch(model_, request_.batch);
    if (request_.training)
      graph_.loss = final_loss(graph_);
    else
      graph_ = inference_form(graph_);
    expect_results(graph_, request_.training);
    add_anchors(graph_, request_.anchors, request_.training);
    if (request_.stage_rule == StageRule::auto_increment) split_into_runs(graph_);
    graph_ = prune(graph_, wanted_values(graph_, request_.training));
  }

  void assign() {
    auto stages = request_.stages;
    if (stages.empty()) stages = find_stages(graph_, request_.stage_rule);
    if (request_.phased) group_into_phases(stages, *request_.phased);
    assignment_ = assign_stages(graph_, stages, request_.ipus, request_.training);
    if (request_.phased) phases_of_stages_ = assign_phases(assignment_, *request_.phased);
  }

  /// After layouts and fusion, so that they do not depend on the cut.
  void cut_graph() {
    AutomaticStages stages = cut_automatically(graph_,
                                               {.stages = request_.automatic_stages,
                                                .ipus = request_.ipus,
                                                .measure = request_.measure,
                                                .memory = request_.memory,
                                                .recompute = recompute_request()},
                                               plan_request(std::max(1, request_.threads_per_ipu)));
    assignment_ = std::move(stages.assignment);
    seconds_ = std::move(stages.seconds);
  }

  void choose() {
    LayoutChoice choice = choose_layouts(graph_);
    graph_ = fuse(choice.graph);
    if (!request_.training) graph_ = prune(graph_, wanted_values(graph_, false));
    conversions_ = choice.conversions;
    if (choice.lane_nodes > 0) lanes_ = lanes_for(request_.batch);
  }

  void add_gradients() {
    graph_ = differentiate(std::move(graph_), request_.gradient_sum);
    graph_ = prune(graph_, wanted_values(graph_, true));
  }

  RecomputeRequest recompute_request() const {
    return request_.training ? request_.recompute : RecomputeRequest{};
  }

  /// Each thread of an IPU takes scratch memory: threads that nobody has asked for are given up
  /// before a plan is refused.
  Plan plan_that_fits() const {
    std::int32_t threads = threads_per_ipu();
    const std::int32_t least = request_.threads_per_ipu > 0 ? threads : 1;
    Plan plan = plan_with(recompute_request(), plan_request(threads));
    while (threads > least && !fits(plan, request_.replicas, request_.memory)) {
      threads = std::max(least, threads / 2);
      plan = plan_with(recompute_request(), plan_request(threads));
    }
    expect_fit(plan, request_.replicas, request_.memory, alternatives(threads),
               [=, this](std::int64_t samples) { return plan_of_batch(samples, threads); });
    return plan;
  }

  /// Automatic stages have no such plan: with other samples they would be cut elsewhere.
  std::optional<Plan> plan_of_batch(std::int64_t samples, std::int32_t threads) const {
    if (request_.automatic_stages > 0) return std::nullopt;
    CompileRequest request = request_;
    request.batch = samples;
    request.progress = {};
    try {
      Compilation other(model_, request);
      other.divide();
      return other.plan_with(recompute_request(), other.plan_request(threads));
    } catch (const Error&) {  // a model may mix its samples, and take some numbers of them only
      return std::nullopt;
    }
  }

  /// What might need less memory than the plan.
  std::vector<Alternative> alternatives(std::int32_t threads) const {
    std::vector<Alternative> result;
    for (const OffloadChoice& choice :
         offload_choices(offload(), request_.training, !phases_of_stages_.none())) {
      PlanRequest request = plan_request(threads);
      request.offload = choice.offload;
      result.push_back({.name = choice.name,
                        .plan = [=, this] { return plan_with(recompute_request(), request); },
                        .offload_state = choice.offload.optimizer_state.on,
                        .classes = choice.classes});
    }
    if (phases_of_stages_.turn > 1) {
      PlanRequest request = plan_request(threads);
      request.phases.turn = 1;
      result.push_back({"a turn for each micro-batch (options.topology.phased.batch_serial off)",
                        [=, this] { return plan_with(recompute_request(), request); }});
    }
    if (request_.training)
      result.push_back(
          {"recomputation", [=, this] { return plan_with({.on = true}, plan_request(threads)); }});
    return result;
  }

  /// Returns which classes of tensors the plan keeps in the host store.
  OffloadOptions offload() const {
    OffloadOptions classes = request_.offload;
    classes.optimizer_state = request_.memory.offload_state;
    classes.activations.on &= request_.training;
    return classes;
  }

  Plan plan_with(const RecomputeRequest& repeated, const PlanRequest& request) const {
    const auto stages = static_cast<std::int32_t>(partition_.stages.size());
    const auto [graph, parts] = recompute(graph_, partition_, recomputed_stages(repeated, stages));
    return build_plan(graph, assignment_, parts, request);
  }

  PlanRequest plan_request(std::int32_t threads) const {
    return {.training = request_.training,
            .batch = request_.batch,
            .schedule = request_.schedule ? request_.schedule : &grouped,
            .phases = phases_of_stages_,
            .threads_per_ipu = threads,
            .in_place = request_.in_place,
            .offload = offload()};
  }

  /// The numbers of the stages' IPUs, those of automatic stages before these are cut.
  std::vector<std::int32_t> stage_ipus() const {
    std::vector<std::int32_t> ipus;
    for (const StagePlacement& stage : assignment_.stages) ipus.push_back(stage.ipu);
    if (!ipus.empty()) return ipus;
    if (!request_.ipus.empty()) return request_.ipus;
    for (std::int32_t ipu = 0; ipu < request_.automatic_stages; ++ipu) ipus.push_back(ipu);
    return ipus;
  }

  std::int32_t used_ipus() const { return graph::used_ipus(stage_ipus(), request_.replicas); }

  std::int32_t threads_per_ipu() const {
    if (request_.threads_per_ipu > 0) return request_.threads_per_ipu;
    const std::int32_t threads =
        request_.threads > 0 ? std::min(request_.cores, request_.threads) : request_.cores;
    return std::max(1, threads / used_ipus());
  }

  void describe() {
    compiled_.report = report_on(compiled_.plan, {.micro_batches = request_.gradient_accumulation,
                                                  .threads = request_.threads,
                                                  .measured = seconds_});
    compiled_.report.automatic_stages = request_.automatic_stages > 0;
    compiled_.report.layout_conversions = conversions_;
    compiled_.report.lanes = lanes_;
    compiled_.report.wasted_lanes = lanes_ > 0 ? lanes_ - request_.batch : 0;
    auto& warnings = compiled_.report.warnings;
    warnings.insert(warnings.begin(), assignment_.warnings.begin(), assignment_.warnings.end());
    warn_of_many_threads(warnings);
    for (std::string& note : idle_offload(compiled_.plan, offload(), request_.memory))
      warnings.push_back(std::move(note));
    if (!request_.training) return;
    warn_of_untrained(warnings);
    if (request_.recompute.on && partition_.stages.size() == 1)
      warnings.emplace_back(
          "nothing is recomputed: the only stage is the last one, whose backward follows its "
          "forward at once");
    if (request_.replicas > 1) warn_of_own_statistics(warnings);
    if (auto note = idle_sharding(compiled_.plan, request_.memory))
      warnings.push_back(*std::move(note));
  }

  void warn_of_many_threads(std::vector<std::string>& warnings) const {
    const auto warn = [&](const std::string& what) {
      warnings.push_back(what + " are more than the machine's " + std::to_string(request_.cores) +
                         " cores: they take turns");
    };
    if (request_.cores == 0) return;
    if (request_.threads > request_.cores)
      warn("threads: " + std::to_string(request_.threads) + " worker threads");
    const std::int32_t each = compiled_.plan.threads_per_ipu;
    const std::int32_t ipus = used_ipus();
    if (each > 1 && std::int64_t{each} * ipus > request_.cores)
      warn("threads_per_ipu: " + std::to_string(each) + " threads of each of " +
           std::to_string(ipus) + (ipus == 1 ? " IPU" : " IPUs"));
  }

  void warn_of_untrained(std::vector<std::string>& warnings) const {
    const auto trained = trained_values(graph_);
    for (const Variable& variable : model_.variables)
      if (const Value& value = model_.value(variable.value);
          value.kind == ValueKind::parameter && !trained[index(variable.value)])
        warnings.push_back("parameter " + quoted_text(value.name) +
                           " does not influence the loss and is not trained");
  }

  void warn_of_own_statistics(std::vector<std::string>& warnings) const {
    std::vector<std::string> names;
    for (const Node& node : graph_.nodes)
      if (node.op == &batch_norm2d) names.push_back(node.name);
    if (names.empty()) return;
    const std::string others =
        names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : "";
    warnings.push_back("batch norm " + quoted_text(names[0]) + others + ": each of " +
                       std::to_string(request_.replicas) +
                       " replicas normalises by its own micro-batches and keeps running "
                       "statistics of its own; replica 0's are read back");
  }

  const Graph& model_;
  const CompileRequest& request_;
  std::int32_t conversions_ = 0;
  std::int64_t lanes_ = 0;
  Graph graph_;
  StageAssignment assignment_;
  Phases phases_of_stages_;         // none unless asked for
  std::vector<StageCost> seconds_;  // of automatic stages, where measured
  Partition partition_;
  std::vector<CompilePhase> phases_;
  Compiled compiled_;
};

}  // namespace

Compiled compile(const Graph& model, const CompileRequest& request) {
  return Compilation(model, request).run();
}

}  // namespace penstock::graph
