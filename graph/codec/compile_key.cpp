#include "graph/codec/compile_key.hpp"

#include "graph/codec/fields.hpp"
#include "graph/codec/source_hash.hpp"
#include "graph/kernels/isa.hpp"

namespace penstock::graph {
namespace {

void fields(Writer& writer, const KeptState& state) {
  const auto& [tensors, elementwise] = state;
  writer(tensors, elementwise);
}

/// Writes `budget`. The results of the function `budget.state` for the parameters of `model` are
/// written in place of the function.
void write_budget(Writer& writer, const Graph& model, const MemoryBudget& budget) {
  const auto& [bytes, state, offload_state, shard_state, replicas] = budget;
  writer(bytes, offload_state, shard_state, replicas, static_cast<bool>(state));
  if (!state) return;
  for (const Variable& variable : model.variables)
    if (const Value& value = model.value(variable.value); value.kind == ValueKind::parameter)
      fields(writer, state(value.name));
}

}  // namespace

std::string compile_key(const Graph& model, const CompileRequest& request) {
  Writer writer;
  writer(std::string(source_hash), isa(), model);
  const auto& [training, batch, options, stages, measure, schedule, phased, gradient_accumulation,
               threads, gradient_sum, replicas, threads_per_ipu, cores, memory, offload, recompute,
               anchors, progress, in_place, prepare] = request;
  static_cast<void>(progress);  // A listener changes nothing in a plan.
  writer(training, batch, options, stages, static_cast<bool>(measure), schedule, phased,
         gradient_accumulation, threads, gradient_sum, replicas, threads_per_ipu, cores, offload,
         recompute, anchors, in_place, prepare);
  write_budget(writer, model, memory);
  return writer.take();
}

}  // namespace penstock::graph
