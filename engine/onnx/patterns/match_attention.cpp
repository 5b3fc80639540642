#include "engine/onnx/patterns/match.hpp"

#include <algorithm>
#include <utility>

namespace penstock {
namespace {

/// Factors are the names of the constants by which scores are multiplied or divided, and whether
/// they are divided by each.
struct Factors {
  std::vector<std::string> names = {};
  std::vector<std::int64_t> divides = {};
};

/// A Mask says which scores are hidden: `name` is added to them, or chooses between them and the
/// number `low`.
struct Mask {
  std::string name = {};
  std::string low = {};     ///< This is empty if the mask is added.
  bool hides_true = false;  ///< A true element of the mask chooses `low`, and not the score.
};

/// Takes a multiplication or division by a constant in front of `name`, if there is one. Returns
/// the name of what is multiplied.
std::string unscaled(Match& match, const std::string& name, Factors& factors) {
  const NodeGraph& graph = match.graph();
  if (const auto position = graph.producer(name, "Div")) {
    const OnnxNode& node = graph.node(*position);
    if (node.inputs.size() == 2 && graph.may_be_known(node.inputs[1])) {
      match.take(name, "Div");
      factors.names.push_back(node.inputs[1]);
      factors.divides.push_back(1);
      return node.inputs[0];
    }
  }
  if (const auto position = graph.producer(name, "Mul")) {
    const OnnxNode& node = graph.node(*position);
    for (const std::size_t side : {1, 0})
      if (node.inputs.size() == 2 && graph.may_be_known(node.inputs[side])) {
        match.take(name, "Mul");
        factors.names.push_back(node.inputs[side]);
        factors.divides.push_back(0);
        return node.inputs[1 - side];
      }
  }
  return name;
}

/// Adds the operand kᵀ of the scores to `layer`, behind q.
void add_keys(Match& match, const std::string& name, Factors& factors, OnnxNode& layer) {
  std::string keys = unscaled(match, name, factors);
  std::vector<std::int64_t> perm;
  if (const auto position = match.graph().producer(keys, "Transpose")) {
    const OnnxNode& transpose = match.graph().node(*position);
    perm = transpose.integers("perm");
    if (!perm.empty() && !transpose.inputs.empty()) {
      match.take(keys, "Transpose");
      keys = unscaled(match, transpose.inputs[0], factors);
    }
  }
  layer.inputs.push_back(keys);
  layer.attributes.push_back(integers_attribute("perm", perm));
}

/// Matches the scores that `name` is called. `dropout` may be null.
std::optional<Pattern> match_scores(Match match, const std::string& name, const Mask& mask,
                                    const OnnxNode& softmax, const OnnxNode* dropout) {
  Factors factors;
  const OnnxNode* const scores = match.take(unscaled(match, name, factors), "MatMul");
  if (!scores || scores->inputs.size() != 2) return std::nullopt;
  OnnxNode layer =
      layer_node("attention", scores->name, {unscaled(match, scores->inputs[0], factors)});
  add_keys(match, scores->inputs[1], factors, layer);
  layer.inputs.insert(layer.inputs.end(), {match.last().inputs[1], mask.name, "", "", mask.low});
  layer.attributes.push_back(integer_attribute("hides_true", mask.hides_true ? 1 : 0));
  if (dropout) {
    for (std::size_t i = 1; i < std::min<std::size_t>(3, dropout->inputs.size()); ++i)
      layer.inputs[3 + i] = dropout->inputs[i];
    layer.attributes.insert(layer.attributes.end(), dropout->attributes.begin(),
                            dropout->attributes.end());
    layer.attributes.push_back(integer_attribute("has_dropout", 1));
  }
  if (const OnnxAttribute* const axis = softmax.find("axis")) layer.attributes.push_back(*axis);
  layer.attributes.push_back(integers_attribute("divides", factors.divides));
  layer.inputs.insert(layer.inputs.end(), factors.names.begin(), factors.names.end());
  return match.pattern(std::move(layer));
}

/// Matches scores that go through a mask before `softmax`, or through none.
std::optional<Pattern> match_masked(const Match& match, const OnnxNode& softmax,
                                    const OnnxNode* dropout) {
  if (auto found = match_scores(match, softmax.inputs[0], {}, softmax, dropout)) return found;
  Match added = match, chosen = match;
  if (const OnnxNode* const sum = added.take(softmax, 0, "Add"); sum && sum->inputs.size() == 2)
    for (const std::size_t side : {0, 1})
      if (auto found = match_scores(added, sum->inputs[side], {.name = sum->inputs[1 - side]},
                                    softmax, dropout))
        return found;
  const OnnxNode* const choice = chosen.take(softmax, 0, "Where");
  if (!choice || choice->inputs.size() != 3) return std::nullopt;
  for (const std::size_t side : {1, 2}) {
    const Mask mask{choice->inputs[0], choice->inputs[3 - side], side == 2};
    if (auto found = match_scores(chosen, choice->inputs[side], mask, softmax, dropout))
      return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Pattern> match_attention(const NodeGraph& graph, std::size_t last) {
  const OnnxNode& node = graph.node(last);
  if (!node.domain.empty() || node.op_type != "MatMul" || node.inputs.size() != 2)
    return std::nullopt;
  Match match(graph, last);
  const OnnxNode* const dropout = match.take(node, 0, "Dropout");
  const OnnxNode* const softmax = match.take(dropout ? *dropout : node, 0, "Softmax");
  if (!softmax || softmax->inputs.size() != 1) return std::nullopt;
  return match_masked(match, *softmax, dropout);
}

}  // namespace penstock
