#include "engine/onnx/patterns/match.hpp"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

/// Adds the factors of the product that `node` computes to `factors`, and takes the products that
/// only this one reads.
void add_factors(Match& match, const OnnxNode& node, std::vector<std::string>& factors, int depth) {
  for (const std::string& input : node.inputs) {
    Match inner = match;
    const OnnxNode* const product = depth > 0 ? inner.take(input, "Mul") : nullptr;
    // A value that others read, too, is a factor itself.
    if (product && inner.pattern({})) {
      match = inner;
      add_factors(match, *product, factors, depth - 1);
    } else {
      factors.push_back(input);
    }
  }
}

/// Returns the operand of a node of two operands that is not `name`, or nothing.
std::optional<std::string> other_operand(const OnnxNode& node, const std::string& name) {
  if (node.inputs.size() != 2) return std::nullopt;
  if (node.inputs[0] == name) return node.inputs[1];
  if (node.inputs[1] == name) return node.inputs[0];
  return std::nullopt;
}

/// Takes a node of two operands, one of which a node of the operator `op` computes. Returns that
/// node and the name of the other operand.
std::optional<std::pair<const OnnxNode*, std::string>> take_beside(Match& match,
                                                                   const OnnxNode& node,
                                                                   std::string_view op) {
  if (node.inputs.size() != 2) return std::nullopt;
  for (const std::size_t side : {0, 1})
    if (const OnnxNode* const found = match.take(node, side, op))
      return std::pair(found, node.inputs[1 - side]);
  return std::nullopt;
}

/// Matches erf(x/c) and erf(x·c).
std::optional<OnnxNode> match_erf(Match& match, const OnnxNode& sum, const std::string& x,
                                  std::vector<std::string> inputs) {
  const auto erf = take_beside(match, sum, "Erf");
  if (!erf) return std::nullopt;
  inputs.push_back(erf->second);
  for (const char* const op : {"Div", "Mul"}) {
    const OnnxNode* const scaled = match.take(*erf->first, 0, op);
    if (!scaled) continue;
    const std::optional<std::string> factor = other_operand(*scaled, x);
    if (!factor || (scaled->op_type == "Div" && scaled->inputs[0] != x)) return std::nullopt;
    inputs.push_back(*factor);
    OnnxNode layer = layer_node("gelu", sum.name, std::move(inputs));
    layer.attributes = {integer_attribute("divides", scaled->op_type == "Div" ? 1 : 0)};
    return layer;
  }
  return std::nullopt;
}

/// Matches tanh(c·(x + d·x^e)).
std::optional<OnnxNode> match_tanh(Match& match, const OnnxNode& sum, const std::string& x,
                                   std::vector<std::string> inputs) {
  const auto tanh = take_beside(match, sum, "Tanh");
  const OnnxNode* const scaled = tanh ? match.take(*tanh->first, 0, "Mul") : nullptr;
  if (!scaled) return std::nullopt;
  const auto line = take_beside(match, *scaled, "Add");
  if (!line || !other_operand(*line->first, x)) return std::nullopt;
  const OnnxNode* const cubic = match.take(*other_operand(*line->first, x), "Mul");
  if (!cubic) return std::nullopt;
  const auto power = take_beside(match, *cubic, "Pow");
  if (!power || power->first->inputs.size() != 2 || power->first->inputs[0] != x)
    return std::nullopt;
  inputs.insert(inputs.end(), {tanh->second, line->second, power->second, power->first->inputs[1]});
  return layer_node("gelu_tanh", sum.name, std::move(inputs));
}

}  // namespace

std::optional<Pattern> match_gelu(const NodeGraph& graph, std::size_t last) {
  const OnnxNode& node = graph.node(last);
  if (!node.domain.empty() || node.op_type != "Mul") return std::nullopt;
  Match product(graph, last);
  std::vector<std::string> factors;
  add_factors(product, node, factors, 2);
  if (factors.size() != 3) return std::nullopt;
  // The factors are x, a half and the sum, in any order.
  std::ranges::sort(factors);
  do {
    for (const auto match_sum : {match_erf, match_tanh}) {
      Match match = product;
      const OnnxNode* const sum = match.take(factors[2], "Add");
      if (!sum) break;
      if (auto layer = match_sum(match, *sum, factors[0], {factors[0], factors[1]}))
        if (std::optional<Pattern> found = match.pattern(*std::move(layer))) return found;
    }
  } while (std::ranges::next_permutation(factors).found);
  return std::nullopt;
}

}  // namespace penstock
