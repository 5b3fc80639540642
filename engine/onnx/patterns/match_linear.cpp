#include "engine/onnx/patterns/match.hpp"

namespace penstock {
namespace {

/// Returns the pattern of a product with an initializer. `bias` is the name of what is added to it,
/// or empty.
std::optional<Pattern> pattern_of(Match match, const OnnxNode& product, const std::string& bias) {
  if (product.inputs.size() != 2) return std::nullopt;
  const NodeGraph& graph = match.graph();
  std::string weight = product.inputs[1];
  bool is_transposed = false;
  if (const std::optional<std::size_t> position = graph.producer(weight, "Transpose")) {
    const OnnxNode& transpose = graph.node(*position);
    const std::vector<std::int64_t> perm = transpose.integers("perm");
    const bool is_matrix = perm.empty() || perm == std::vector<std::int64_t>{1, 0};
    if (!is_matrix || transpose.inputs.empty()) return std::nullopt;
    is_transposed = true;
    // Several products may share a transpose, which is none of the pattern then.
    Match with_transpose = match;
    with_transpose.take(weight, "Transpose");
    weight = transpose.inputs[0];
    if (with_transpose.pattern({})) match = with_transpose;
  }
  if (!graph.is_initializer(weight) || (bias.empty() && !is_transposed)) return std::nullopt;
  OnnxNode layer = layer_node("linear", product.name.empty() ? product.outputs[0] : product.name,
                              {product.inputs[0], weight, bias});
  layer.attributes = {integer_attribute("transposed", is_transposed ? 1 : 0)};
  return match.pattern(std::move(layer));
}

}  // namespace

std::optional<Pattern> match_linear(const NodeGraph& graph, std::size_t last) {
  const OnnxNode& node = graph.node(last);
  if (!node.domain.empty()) return std::nullopt;
  if (node.op_type == "MatMul") return pattern_of(Match(graph, last), node, "");
  if (node.op_type != "Add" || node.inputs.size() != 2) return std::nullopt;
  for (const std::size_t side : {0, 1}) {
    Match match(graph, last);
    const OnnxNode* const product = match.take(node, side, "MatMul");
    if (!product || !graph.is_initializer(node.inputs[1 - side])) continue;
    if (std::optional<Pattern> found = pattern_of(match, *product, node.inputs[1 - side]))
      return found;
  }
  return std::nullopt;
}

}  // namespace penstock
