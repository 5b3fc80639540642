#include "engine/onnx/import/pattern_layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "graph/ops/activations/smooth.hpp"
#include "graph/ops/activations/unary.hpp"
#include "graph/ops/arithmetic/expand.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/norms/layer_norm.hpp"
#include "graph/ops/sequences/attention.hpp"

namespace penstock {
namespace {

/// Returns the one number that input number `i` is for every number of samples, or nothing. A
/// result has no more axes than input 0 if it is computed with that number.
std::optional<double> number_of(const NodeImport& n, std::size_t i) {
  if (!n.has(i)) return std::nullopt;
  const Imported& x = n.input(i);
  if (!x.is_known() || x.trainable || n.rank(i) > n.rank(0)) return std::nullopt;
  for (const Tensor& tensor : x.known)
    if (tensor.elements() != 1) return std::nullopt;
  const double first = numbers_of(x.known[0])[0], second = numbers_of(x.known[1])[0];
  return first == second ? std::optional(first) : std::nullopt;
}

/// Returns whether input number `i` is the number `expected`, as exactly as exporters write it.
bool is_number(const NodeImport& n, std::size_t i, double expected) {
  const std::optional<double> number = number_of(n, i);
  return number && std::abs(*number - expected) <= 1e-5 * std::abs(expected);
}

/// Returns whether axis number `axis` of x has no samples.
bool is_apart(const Imported& x, std::size_t axis) {
  return x.placement && (x.placement->whole || x.placement->axis != axis);
}

/// Returns whether input number `i` depends on no samples and has the dimensions `dims`.
bool has_dims(const NodeImport& n, std::size_t i, const Dims& dims) {
  return n.has(i) && !n.input(i).placement && n.dims(i) == dims;
}

/// Imports x·Wᵀ + b, or x·W + b, whose W is a parameter or a constant. The input 2 may be missing.
Results linear(NodeImport& n) {
  const Imported& x = n.input(0);
  const std::size_t rank = n.rank(0);
  if (rank < 2 || !is_apart(x, rank - 1) || !n.input(1).is_known() || n.rank(1) != 2) return {};
  const bool is_transposed = n.flag("transposed");
  const Dims weight = n.dims(1);
  const std::int64_t in = weight[is_transposed ? 1 : 0], out = weight[is_transposed ? 0 : 1];
  if (n.dims(0).back() != in || (n.has(2) && !has_dims(n, 2, {out}))) return {};
  std::vector<Value> inputs{n.value(0), n.raw(1)};
  if (!is_transposed) inputs[1] = n.apply(graph::transpose, {inputs[1]}, {{"axes", Dims{1, 0}}});
  if (n.has(2)) inputs.push_back(n.raw(2));
  return {n.like_first(n.apply(graph::linear, inputs))};
}

/// Inputs 1 to 3 are 0.5, 1 and √2 or its inverse.
Results gelu(NodeImport& n) {
  const double root = std::sqrt(2.0);
  if (!n.input(0).placement || !is_number(n, 1, 0.5) || !is_number(n, 2, 1) ||
      !is_number(n, 3, n.flag("divides") ? root : 1 / root))
    return {};
  return {n.like_first(n.apply(graph::gelu, {n.value(0)}))};
}

/// Inputs 1 to 5 are 0.5, 1, √(2/π), 0.044715 and 3.
Results gelu_tanh(NodeImport& n) {
  const std::array expected{0.5, 1.0, std::sqrt(2 / std::acos(-1.0)), 0.044715, 3.0};
  bool is_gelu = n.input(0).placement.has_value();
  for (std::size_t i = 0; i < expected.size(); ++i)
    is_gelu = is_gelu && is_number(n, i + 1, expected[i]);
  if (!is_gelu) return {};
  return {n.like_first(n.apply(graph::gelu_tanh, {n.value(0)}))};
}

/// Returns the axes over which a layer norm is taken, in the file's order, or nothing if they are
/// not known, or more than input 0 has.
std::optional<Dims> norm_axes(const NodeImport& n) {
  if (!n.has(5)) return n.integers("axes");
  const Imported& axes = n.input(5);
  if (!axes.is_constant() || axes.known[0].dtype() == DType::f32 ||
      axes.known[0].elements() > static_cast<std::int64_t>(n.rank(0)))
    return std::nullopt;
  return integers_of(axes.known[0]);
}

/// Inputs 1 to 5 are the weight, the bias, eps, 2 where a power makes the square, and the axes
/// where they are no attribute.
Results layer_norm(NodeImport& n) {
  const Imported& x = n.input(0);
  const std::size_t rank = n.rank(0);
  std::optional<Dims> axes = norm_axes(n);
  const std::optional<double> eps = number_of(n, 3);
  if (!axes || axes->empty() || axes->size() > rank || !eps || (n.has(4) && !is_number(n, 4, 2)))
    return {};
  for (std::int64_t& axis : *axes) axis = static_cast<std::int64_t>(axis_of(axis, rank));
  std::ranges::sort(*axes);
  const std::size_t first = rank - axes->size();
  for (std::size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[i] != static_cast<std::int64_t>(first + i) || !is_apart(x, first + i)) return {};
  const Dims dims = n.dims(0);
  const Dims last(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end());
  if (!has_dims(n, 1, last) || !has_dims(n, 2, last) || !(*eps > 0)) return {};
  return {
      n.like_first(n.apply(graph::layer_norm, {n.value(0), n.raw(1), n.raw(2)}, {{"eps", *eps}}))};
}

/// An AttentionPattern has the inputs of an attention: q, kᵀ or what a transpose makes it of, v, a
/// mask, the ratio and the mode of a dropout, the number that a mask of bools puts in place of
/// scores, and factors of the scores.
class AttentionPattern {
 public:
  explicit AttentionPattern(NodeImport& n)
      : n_(n), masks_(n.network.choice_masks()), mask_(n.has(3)) {}

  Results import() {
    const std::optional<double> scale = factor(), ratio = dropped();
    if (!scale || *scale == 0 || !ratio || !is_softmax_of_rows()) return {};
    const Dims order = order_of_keys();
    if (order.empty() || !has_shapes(order) || (mask_ && !is_mask())) return {};
    if (n_.has(low) && !is_choice()) return {};
    Imported keys = n_.network.transposed(n_.input(1), order);
    const auto [values, placement] = n_.network.aligned({&n_.input(0), &keys, &n_.input(2)}, 2);
    std::vector<Value> inputs = values;
    graph::Attributes attributes{{"scale", *scale}};
    if (mask_) {
      inputs.push_back(mask());
      attributes.set("attn_mask", std::int64_t{1});
    }
    if (*ratio == 0) return {n_.like_first(n_.apply(graph::attention, inputs, attributes))};
    attributes.set("p", *ratio);
    return {n_.like_first(n_.apply(graph::attention_dropout, inputs, attributes))};
  }

 private:
  /// Returns the factor of the scores, if it is known.
  std::optional<double> factor() const {
    double product = 1;
    const Dims divides = n_.integers("divides");
    for (std::size_t i = 0; i < divides.size(); ++i) {
      const std::optional<double> number = number_of(n_, first_factor + i);
      if (!number) return std::nullopt;
      product = divides[i] != 0 ? product / *number : product * *number;
    }
    return std::isfinite(product) ? std::optional(product) : std::nullopt;
  }

  /// Returns the share of the softmax's results that a dropout drops, if it is known. A model that
  /// is only run drops nothing.
  std::optional<double> dropped() const {
    if (!n_.flag("has_dropout")) return 0;
    const bool is_training = n_.has(5) && number_of(n_, 5).value_or(1) != 0;
    const std::optional<double> ratio = n_.opset < 12 ? std::optional(n_.real("ratio", 0.5))
                                        : n_.has(4)   ? number_of(n_, 4)
                                                      : std::optional(0.5);
    if (!ratio || *ratio < 0 || *ratio >= 1) return std::nullopt;
    if (!n_.network.is_run()) return ratio;
    return is_training && *ratio != 0 ? std::nullopt : std::optional<double>(0);
  }

  bool is_softmax_of_rows() const {
    const std::int64_t axis = n_.integer("axis", n_.opset < 13 ? 1 : -1);
    return axis == -1 || axis == static_cast<std::int64_t>(n_.rank(0)) - 1;
  }

  /// Returns the order in which the axes of input 1 are those of k; an empty list if there is none.
  Dims order_of_keys() const {
    const std::size_t rank = n_.rank(1);
    Dims order = n_.integers("perm");
    if (order.empty())
      for (std::size_t axis = 0; axis < rank; ++axis)
        order.push_back(static_cast<std::int64_t>(axis));
    if (order.size() != rank || rank < 2) return {};
    std::swap(order[rank - 2], order[rank - 1]);
    Dims sorted = order;
    std::ranges::sort(sorted);
    for (std::size_t axis = 0; axis < rank; ++axis)
      if (sorted[axis] != static_cast<std::int64_t>(axis)) return {};
    return order;
  }

  /// Returns whether q, k and v are [...,T,D], [...,S,D] and [...,S,E] with the same axes in front,
  /// among which samples are.
  bool has_shapes(const Dims& order) const {
    const Imported &q = n_.input(0), &k = n_.input(1), &v = n_.input(2);
    const std::size_t rank = n_.rank(0);
    if (rank < 2 || n_.rank(1) != rank || n_.rank(2) != rank) return false;
    if (!is_apart(q, rank - 1) || !is_apart(q, rank - 2) || !k.placement ||
        q.placement != v.placement)
      return false;
    Dims keys(rank), of_k = n_.dims(1);
    Placement placement = *k.placement;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      keys[axis] = of_k[static_cast<std::size_t>(order[axis])];
      if (!placement.whole && static_cast<std::size_t>(order[axis]) == k.placement->axis)
        placement.axis = axis;
    }
    const Dims of_q = n_.dims(0), of_v = n_.dims(2);
    const auto leading = [&](const Dims& dims) { return Dims(dims.begin(), dims.end() - 2); };
    return placement == *q.placement && leading(of_q) == leading(keys) &&
           leading(of_q) == leading(of_v) && of_q[rank - 1] == keys[rank - 1] &&
           keys[rank - 2] == of_v[rank - 2];
  }

  Dims scores() const { return {n_.dims(0)[n_.rank(0) - 2], n_.dims(2)[n_.rank(2) - 2]}; }

  /// Returns whether input 3 is one mask [T,S] for all samples and heads, or broadcasts to it.
  bool is_mask() const {
    if (n_.input(3).placement) return false;
    const Dims dims = n_.dims(3), all = scores();
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const std::int64_t size = dims[dims.size() - 1 - i];
      if (size != 1 && (i > 1 || size != all[1 - i])) return false;
    }
    return dims.size() <= n_.rank(0);
  }

  /// Returns whether the mask is known, and chooses between scores and a number that is far below
  /// all of them. The mask has to show a key in each row: if it hid all keys of a row, the choice
  /// would give them one and the same score, whereas a number that is added to all scores of a row
  /// leaves them as different as they were.
  bool is_choice() const {
    constexpr double far_below = -1e4;
    const Imported& x = n_.input(3);
    return x.is_constant() && !x.trainable && number_of(n_, low).value_or(0) <= far_below &&
           masks_.show_a_key_in_each_row(choice(), n_.network.computed_count());
  }

  ChoiceMask choice() const { return {n_.input(3).known[0], n_.flag("hides_true")}; }

  /// Returns what is added to scores in place of a choice.
  Value added_mask() {
    const Tensor& added = masks_.added(choice(), *number_of(n_, low), n_.network.computed_count());
    Imported constant = NetworkImport::constant(added, OnnxType::f32);
    return n_.network.raw(constant);
  }

  Value mask() {
    Dims dims = n_.dims(3);
    while (dims.size() < 2) dims.insert(dims.begin(), 1);
    dims.erase(dims.begin(), dims.end() - 2);
    const Value known_mask =
        n_.network.reshaped_value(n_.has(low) ? added_mask() : n_.raw(3), dims);
    return dims == scores() ? known_mask
                            : n_.apply(graph::expand, {known_mask}, {{"shape", scores()}});
  }

  static constexpr std::size_t low = 6;           // This is the position of the number of a mask.
  static constexpr std::size_t first_factor = 7;  // The inputs before are not factors.

  NodeImport& n_;
  ChoiceMasks& masks_;
  bool mask_;
};

Results attention(NodeImport& n) {
  return AttentionPattern(n).import();
}

}  // namespace

PatternImport find_pattern_import(std::string_view op_type) {
  static constexpr std::array<std::pair<std::string_view, PatternImport>, 5> imports{
      {{"attention", attention},
       {"gelu", gelu},
       {"gelu_tanh", gelu_tanh},
       {"layer_norm", layer_norm},
       {"linear", linear}}};
  return std::ranges::find(imports, op_type, &std::pair<std::string_view, PatternImport>::first)
      ->second;
}

}  // namespace penstock
