#include "graph/passes/memory/memory_map.hpp"

#include "graph/ir/op.hpp"
#include "graph/values/memory.hpp"
#include "graph/values/text.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

class MemoryMapping {
 public:
  MemoryMapping(const Graph& graph, const Partition& partition, std::int32_t stage,
                const std::vector<Output>& outputs, const OffloadOptions& offload)
      : graph_(graph),
        partition_(partition),
        stage_(partition.stages[index(stage)]),
        offload_(offload),
        is_output_(graph.values.size()),
        used_(graph.values.size()) {
    for (const Output& output : outputs) is_output_[index(output.value)] = true;
    result_.placements.resize(graph.values.size());
    mark_used(stage_.forward);
    mark_used(stage_.backward);
    read_later_ = used_;
    mark_used(stage_.prepare);
  }

  StageMemoryMap run() {
    place_variables();
    place_prepared();
    place_accumulators();
    place_updates(stage_.forward);
    place_updates(stage_.backward);
    place_received();
    place_stash_and_outputs();
    place_sent_back();
    return std::move(result_);
  }

 private:
  void mark_used(const std::vector<NodeId>& nodes) {
    for (const NodeId node : nodes)
      for (const ValueId input : graph_.node(node).inputs) used_[index(input)] = true;
  }

  std::optional<Placement>& place(ValueId value) { return result_.placements[index(value)]; }

  void append(ValueId value, Space space, std::int64_t& bytes, Arrival arrival = Arrival::always) {
    place(value) = Placement{{.space = space, .offset = bytes}, arrival};
    bytes += aligned(graph_.type(value).bytes());
  }

  void place_variables() {
    for (const Variable& variable : graph_.variables) {
      if (!used_[index(variable.value)]) continue;
      const Value& value = graph_.value(variable.value);
      if (is_in_weight_room(value, offload_))
        append(variable.value, Space::weight_room, result_.host_parameter_bytes);
      else if (value.kind == ValueKind::buffer)
        append(variable.value, Space::buffers, result_.buffer_bytes);
      else
        append(variable.value, Space::parameters, result_.parameter_bytes);
      result_.variables.push_back(variable.value);
    }
  }

  void place_prepared() {
    for (const NodeId id : stage_.prepare)
      for (const ValueId output : graph_.node(id).outputs)
        if (read_later_[index(output)]) append(output, Space::prepared, result_.prepared_bytes);
  }

  void place_accumulators() {
    for (const ParameterGradient& gradient : graph_.parameter_gradients) {
      if (!used_[index(gradient.sum)]) continue;
      if (offload_.accumulators.takes(graph_.type(gradient.sum).bytes()))
        append(gradient.sum, Space::host_accumulators, result_.host_accumulator_bytes,
               Arrival::in_pieces);
      else
        append(gradient.sum, Space::accumulators, result_.accumulator_bytes);
    }
  }

  /// Places the new value of each buffer of the model where the buffer itself is. A new value that
  /// a node computes again for the backward stays a temporary, because the forward has updated the
  /// buffer already.
  void place_updates(const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes) {
      const Node& node = graph_.node(id);
      if (node.recomputed) continue;
      for (const Update& update : node.op->updates)
        place(node.outputs[index(update.output)]) = place(node.inputs[index(update.input)]);
    }
  }

  void place_received() {
    std::int32_t position = 0;
    for (const auto* receives : {&stage_.forward_receives, &stage_.backward_receives})
      for (const std::int32_t edge : *receives) {
        const auto& [kind, from, to, value] = partition_.edges[index(edge)];
        const bool copied = kind == EdgeKind::activation && is_offloaded(value);
        if (value != none)
          place(value) = Placement{{.space = Space::received, .index = position},
                                   copied ? Arrival::copied : Arrival::always};
        ++position;
      }
  }

  void place_stash_and_outputs() {
    std::vector<bool> kept(graph_.values.size());
    for (const NodeId node : stage_.backward)
      for (const ValueId input : graph_.node(node).inputs) kept[index(input)] = true;
    for (const std::int32_t edge : stage_.forward_sends)
      if (const ValueId value = partition_.edges[index(edge)].value; value != none)
        kept[index(value)] = true;
    for (const NodeId id : stage_.forward)
      for (const ValueId value : graph_.node(id).outputs)
        if (kept[index(value)] || is_output(value)) keep(value, is_offloaded(value));
    for (const NodeId id : stage_.backward)
      for (const ValueId value : graph_.node(id).outputs)
        if (is_output(value)) keep(value, false);
  }

  bool is_offloaded(ValueId activation) const {
    return offload_.activations.takes(graph_.type(activation).bytes());
  }

  bool is_output(ValueId value) const { return is_output_[index(value)]; }

  void keep(ValueId value, bool on_host) {
    if (place(value))
      throw Error(Errc::unsupported, quoted_text(graph_.value(value).name) +
                                         " is the new value of a buffer; it cannot be an output "
                                         "or the input of a layer");
    if (on_host)
      append(value, Space::host_stash, result_.host_stash_bytes, Arrival::copied);
    else if (is_output(value))
      append(value, Space::outputs, result_.output_bytes);
    else
      append(value, Space::stash, result_.stash_bytes);
  }

  void place_sent_back() {
    for (std::size_t i = 0; i < stage_.backward_sends.size(); ++i) {
      const ValueId value = partition_.edges[index(stage_.backward_sends[i])].value;
      if (value == none) continue;
      const Location target{.space = Space::sent_back, .index = static_cast<std::int32_t>(i)};
      if (place(value))
        result_.copies.push_back({value, target});
      else
        place(value) = Placement{target};
    }
  }

  const Graph& graph_;
  const Partition& partition_;
  const StageGraph& stage_;
  const OffloadOptions& offload_;
  /// This says, for each ValueId, whether the host needs the value.
  std::vector<bool> is_output_;
  /// This says, for each ValueId, whether the value is an input of one of the stage's nodes.
  std::vector<bool> used_;
  /// This says the same of the inputs of the nodes of the forward and the backward.
  std::vector<bool> read_later_;
  StageMemoryMap result_;
};

}  // namespace

StageMemoryMap map_memory(const Graph& graph, const Partition& partition, std::int32_t stage,
                          const std::vector<Output>& outputs, const OffloadOptions& offload) {
  return MemoryMapping(graph, partition, stage, outputs, offload).run();
}

}  // namespace penstock::graph
