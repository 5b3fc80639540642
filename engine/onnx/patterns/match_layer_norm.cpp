#include "engine/onnx/patterns/match.hpp"

#include <utility>

namespace penstock {
namespace {

/// A Mean is a node that takes a mean over axes.
struct Mean {
  const OnnxNode* node = nullptr;
  std::string of = {};    ///< This is the name of what the mean is taken of.
  std::string axes = {};  ///< This is the name of the axes, if they are an input.
};

std::optional<Mean> take_mean(Match& match, const std::string& name) {
  const OnnxNode* const node = match.take(name, "ReduceMean");
  if (!node || node->inputs.empty() || node->integer("keepdims", 1) != 1) return std::nullopt;
  return Mean{node, node->inputs[0], node->inputs.size() > 1 ? node->inputs[1] : ""};
}

/// Takes x - mean(x). Returns the mean.
std::optional<Mean> take_difference(Match& match, const std::string& name) {
  const OnnxNode* const difference = match.take(name, "Sub");
  if (!difference || difference->inputs.size() != 2) return std::nullopt;
  const std::optional<Mean> mean = take_mean(match, difference->inputs[1]);
  return mean && mean->of == difference->inputs[0] ? mean : std::nullopt;
}

/// Takes the square of a value. Returns the name of the value, and that of the exponent, which is
/// empty for a product.
std::optional<std::pair<std::string, std::string>> take_square(Match& match,
                                                               const std::string& name) {
  if (const OnnxNode* const power = match.take(name, "Pow"); power && power->inputs.size() == 2)
    return std::pair(power->inputs[0], power->inputs[1]);
  const OnnxNode* const product = match.take(name, "Mul");
  if (!product || product->inputs.size() != 2 || product->inputs[0] != product->inputs[1])
    return std::nullopt;
  return std::pair(product->inputs[0], std::string());
}

/// Matches the part without weight and bias, which `name` is called. Returns the layer without
/// them.
std::optional<OnnxNode> match_normalized(Match& match, const std::string& name,
                                         const std::string& weight, const std::string& bias) {
  const OnnxNode* const quotient = match.take(name, "Div");
  const OnnxNode* const deviation = quotient ? match.take(*quotient, 1, "Sqrt") : nullptr;
  const OnnxNode* const sum = deviation ? match.take(*deviation, 0, "Add") : nullptr;
  if (!sum || sum->inputs.size() != 2) return std::nullopt;
  const std::optional<Mean> mean = take_difference(match, quotient->inputs[0]);
  const std::optional<Mean> variance = take_mean(match, sum->inputs[0]);
  if (!mean || !variance || mean->axes != variance->axes ||
      mean->node->integers("axes") != variance->node->integers("axes"))
    return std::nullopt;
  const auto square = take_square(match, variance->of);
  if (!square) return std::nullopt;
  const std::optional<Mean> again = take_difference(match, square->first);
  if (!again || again->of != mean->of || again->axes != mean->axes ||
      again->node->integers("axes") != mean->node->integers("axes"))
    return std::nullopt;
  OnnxNode layer = layer_node("layer_norm", quotient->name,
                              {mean->of, weight, bias, sum->inputs[1], square->second, mean->axes});
  layer.attributes = {integers_attribute("axes", mean->node->integers("axes"))};
  return layer;
}

}  // namespace

std::optional<Pattern> match_layer_norm(const NodeGraph& graph, std::size_t last) {
  const OnnxNode& node = graph.node(last);
  if (!node.domain.empty() || node.op_type != "Add" || node.inputs.size() != 2) return std::nullopt;
  for (const std::size_t side : {0, 1})
    for (const std::size_t factor : {0, 1}) {
      Match match(graph, last);
      const OnnxNode* const scaled = match.take(node, side, "Mul");
      if (!scaled || scaled->inputs.size() != 2) continue;
      auto layer = match_normalized(match, scaled->inputs[factor], scaled->inputs[1 - factor],
                                    node.inputs[1 - side]);
      if (!layer) continue;
      if (std::optional<Pattern> found = match.pattern(*std::move(layer))) return found;
    }
  return std::nullopt;
}

}  // namespace penstock
