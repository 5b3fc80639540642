#include "graph/compile/compile_warnings.hpp"

#include <string>
#include <utility>

#include "graph/compile/build_plan.hpp"
#include "graph/compile/idle_sharding.hpp"
#include "graph/compile/offload_choices.hpp"
#include "graph/compile/plan_choice.hpp"
#include "graph/ir/op.hpp"
#include "graph/values/printable.hpp"

namespace penstock::graph {
namespace {

using Notes = std::vector<Note>;

void warn_of_many_threads(const StagedGraph& staged, const Plan& plan,
                          const CompileRequest& request, Notes& warnings) {
  const auto warn = [&](Option option, const std::string& what) {
    warnings.push_back({option, what + " are more than the machine's " +
                                    std::to_string(request.cores) + " cores: they take turns"});
  };
  if (request.cores == 0) return;
  if (request.threads > request.cores)
    warn(Option::threads, std::to_string(request.threads) + " worker threads");
  const std::int32_t each = plan.threads_per_ipu;
  const std::int32_t ipus = used_ipus(staged, request.replicas);
  if (each > 1 && std::int64_t{each} * ipus > request.cores)
    warn(Option::threads_per_ipu, std::to_string(each) + " threads of each of " +
                                      std::to_string(ipus) + (ipus == 1 ? " IPU" : " IPUs"));
}

void warn_of_untrained(const Graph& model, const Graph& graph, Notes& warnings) {
  const auto trained = trained_values(graph);
  for (const Variable& variable : model.variables)
    if (const Value& value = model.value(variable.value);
        value.kind == ValueKind::parameter && !trained[index(variable.value)])
      warnings.push_back({.text = "parameter " + quoted_text(value.name) +
                                  " does not influence the loss and is not trained"});
}

void warn_of_own_statistics(const Graph& graph, std::int64_t replicas, Notes& warnings) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes)
    if (node.op->has_batch_statistics) names.push_back(node.name);
  if (names.empty() || replicas == 1) return;
  const std::string others =
      names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : "";
  warnings.push_back({.text = "batch norm " + quoted_text(names[0]) + others + ": each of " +
                              std::to_string(replicas) +
                              " replicas normalises by its own micro-batches and keeps running "
                              "statistics of its own; replica 0's are read back"});
}

}  // namespace

Notes compile_warnings(const Graph& model, const StagedGraph& staged, const Plan& plan,
                       const CompileRequest& request) {
  Notes warnings;
  warn_of_many_threads(staged, plan, request, warnings);
  for (Note& note : idle_offload(plan, offload_of(request), request.memory))
    warnings.push_back(std::move(note));
  if (!request.training) return warnings;
  warn_of_untrained(model, staged.graph, warnings);
  if (request.recompute.on && plan.stages.size() == 1)
    warnings.push_back(
        {.text = "nothing is recomputed: the only stage is the last one, whose backward follows "
                 "its forward at once"});
  warn_of_own_statistics(staged.graph, request.replicas, warnings);
  if (auto note = idle_sharding(plan, request.memory)) warnings.push_back(*std::move(note));
  return warnings;
}

}  // namespace penstock::graph
