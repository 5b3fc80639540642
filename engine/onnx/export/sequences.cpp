// These functions write attention and rotary embeddings as their formulas.
#include <array>
#include <cmath>
#include <limits>

#include "engine/onnx/export/op_exports.hpp"
#include "graph/ops/sequences/attention.hpp"
#include "graph/ops/sequences/attention_sizes.hpp"
#include "graph/ops/sequences/causal_mask.hpp"
#include "graph/ops/sequences/rotary_embedding.hpp"

namespace penstock {
namespace {

/// Returns a constant [size,size] that is true up to the diagonal.
std::string lower_triangle(NodeExport& n, std::int64_t size) {
  const auto elements = std::make_unique<bool[]>(static_cast<std::size_t>(size * size));
  for (std::int64_t row = 0; row < size; ++row)
    for (std::int64_t column = 0; column < size; ++column)
      elements[static_cast<std::size_t>(row * size + column)] = column <= row;
  return n.nodes().constant(Tensor(
      {size, size}, std::span<const bool>(elements.get(), static_cast<std::size_t>(size * size))));
}

std::string minus_infinity(NodeExport& n) {
  return n.number(-std::numeric_limits<double>::infinity());
}

void causal_mask(NodeExport& n) {
  n.result("Where", {lower_triangle(n, n.size(0, -1)), n.input(0), minus_infinity(n)});
}

/// An AttentionExport writes the attention of one node. The axes in front of the last two ones are
/// as the model has them; behind them, there are axes for the heads.
class AttentionExport {
 public:
  explicit AttentionExport(NodeExport& n)
      : n_(n), sizes_(n.attributes, types_of(n)), leading_(n.rank() - 2) {}

  void write() {
    std::vector<std::string> parts = operands();
    const bool is_grouped = sizes_.group() != 1;
    const Dims of_queries = is_grouped ? Dims{sizes_.kv_heads, sizes_.group(), sizes_.width}
                                       : Dims{sizes_.heads, sizes_.width};
    const auto of_keys = [&](std::int64_t width) {
      return is_grouped ? Dims{sizes_.kv_heads, 1, width} : Dims{sizes_.heads, width};
    };
    const std::string q = in_heads(parts[0], of_queries, false);
    const std::string k = in_heads(parts[1], of_keys(sizes_.width), true);
    const std::string v = in_heads(parts[2], of_keys(sizes_.value_width), false);
    const std::string scores = n_.add("Mul", {n_.add("MatMul", {q, k}), n_.number(scale())});
    const std::string shares = shares_of(masked(scores));
    write_result(n_.add("MatMul", {shares, v}));
  }

 private:
  static std::vector<graph::TensorType> types_of(const NodeExport& n) {
    std::vector<graph::TensorType> types;
    for (std::size_t i = 0; i < n.input_count(); ++i) types.push_back(n.type(i));
    return types;
  }

  double scale() const {
    const double scale = n_.attributes.real("scale");
    return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(sizes_.width));
  }

  /// Returns q, k and v.
  std::vector<std::string> operands() {
    if (!sizes_.packed()) return {n_.input(0), n_.input(1), n_.input(2)};
    const std::int64_t of_keys = sizes_.kv_heads * sizes_.width;
    return n_.add_all("Split",
                      {n_.input(0), n_.list({sizes_.heads * sizes_.width, of_keys, of_keys})}, 3,
                      {integer_setting("axis", -1)});
  }

  /// Returns x [...,rows,features] as [...,heads,rows,width], or with the last two axes exchanged.
  std::string in_heads(const std::string& x, const Dims& heads, bool turned) {
    const std::string apart = n_.reshaped(x, leading_ + 1, heads);
    const auto added = static_cast<std::int64_t>(heads.size()) - 1;
    Dims order;
    for (std::int64_t axis = 0; axis < leading_; ++axis) order.push_back(axis);
    for (std::int64_t axis = 0; axis < added; ++axis) order.push_back(leading_ + 1 + axis);
    order.push_back(turned ? leading_ + 1 + added : leading_);
    order.push_back(turned ? leading_ : leading_ + 1 + added);
    return n_.transposed(apart, order);
  }

  /// Returns the scores with minus infinity for the keys that queries do not see.
  std::string masked(std::string scores) {
    if (sizes_.attn_mask != 0) scores = n_.add("Add", {scores, n_.input(sizes_.attn_mask)});
    if (sizes_.key_padding_mask != 0) {
      const std::string hidden =
          n_.add("Greater", {n_.input(sizes_.key_padding_mask), n_.number(0)});
      Dims axes;
      const std::int64_t all = leading_ + (sizes_.group() != 1 ? 4 : 3);
      for (std::int64_t axis = 1; axis < all - 1; ++axis) axes.push_back(axis);
      scores = n_.add("Where", {n_.unsqueezed(hidden, axes), minus_infinity(n_), scores});
    }
    if (sizes_.causal)
      scores = n_.add("Where", {lower_triangle(n_, sizes_.queries), scores, minus_infinity(n_)});
    return scores;
  }

  /// Returns the shares of the keys. If the masks leave no key to a query, all shares are 0, where
  /// a softmax is not a number.
  std::string shares_of(const std::string& scores) {
    const std::string shares = n_.add("Softmax", {scores}, {integer_setting("axis", -1)});
    if (!sizes_.has_masks()) return shares;
    return n_.add("Where", {n_.add("IsNaN", {shares}), n_.number(0), shares});
  }

  /// Brings the heads of y behind its rows.
  void write_result(const std::string& y) {
    const std::int64_t added = sizes_.group() != 1 ? 2 : 1;
    Dims order;
    for (std::int64_t axis = 0; axis < leading_; ++axis) order.push_back(axis);
    order.push_back(leading_ + added);
    for (std::int64_t axis = 0; axis < added; ++axis) order.push_back(leading_ + axis);
    order.push_back(leading_ + added + 1);
    n_.result_is(
        n_.reshaped(n_.transposed(y, order), leading_ + 1, {sizes_.heads * sizes_.value_width}));
  }

  NodeExport& n_;
  graph::AttentionSizes sizes_;
  std::int64_t leading_;  ///< `leading_` is the number of axes in front of the last two ones.
};

void attention(NodeExport& n) {
  AttentionExport(n).write();
}

/// A RotaryExport writes the rotation of pairs of features by angles that grow with the position.
class RotaryExport {
 public:
  explicit RotaryExport(NodeExport& n)
      : n_(n),
        leading_(n.rank() - 2),
        positions_(n.size(0, -2)),
        heads_(n.attributes.integer("heads", 1)),
        width_(n.size(0, -1) / heads_),
        interleaved_(n.attributes.flag("interleaved")) {
    const std::int64_t features = n.attributes.integer("features");
    pairs_ = (features != 0 ? features : width_) / 2;
  }

  void write() {
    const std::string x = n_.reshaped(n_.input(0), leading_ + 1, {heads_, width_});
    const auto [a, b] = pairs_of(x);
    const auto [cosines, sines] = n_.attributes.flag("position") ? computed_turns() : known_turns();
    const std::string first =
        n_.add("Sub", {n_.add("Mul", {a, cosines}), n_.add("Mul", {b, sines})});
    const std::string second =
        n_.add("Add", {n_.add("Mul", {b, cosines}), n_.add("Mul", {a, sines})});
    std::vector<std::string> parts = joined(first, second);
    if (2 * pairs_ < width_) parts.push_back(features(x, 2 * pairs_, width_));
    const std::string y =
        parts.size() == 1 ? parts[0] : n_.add("Concat", parts, {integer_setting("axis", -1)});
    n_.result_is(n_.reshaped(y, leading_ + 1, {heads_ * width_}));
  }

 private:
  using Two = std::array<std::string, 2>;

  std::string features(const std::string& x, std::int64_t begin, std::int64_t end) {
    return n_.add("Slice", {x, n_.list({begin}), n_.list({end}), n_.list({leading_ + 2})});
  }

  /// Returns the first and the second features of all pairs.
  Two pairs_of(const std::string& x) {
    if (!interleaved_) return {features(x, 0, pairs_), features(x, pairs_, 2 * pairs_)};
    const auto every_second = [&](std::int64_t first) {
      return n_.add("Slice", {x, n_.list({first}), n_.list({2 * pairs_}), n_.list({leading_ + 2}),
                              n_.list({2})});
    };
    return {every_second(0), every_second(1)};
  }

  /// Returns the rotated features, the parts of which are one behind the other.
  std::vector<std::string> joined(const std::string& first, const std::string& second) {
    if (!interleaved_) return {first, second};
    const Dims last{leading_ + 3};
    const std::string beside =
        n_.add("Concat", {n_.unsqueezed(first, last), n_.unsqueezed(second, last)},
               {integer_setting("axis", -1)});
    return {n_.reshaped(beside, leading_ + 2, {2 * pairs_})};
  }

  double angle(std::int64_t pair) const {
    return std::pow(n_.attributes.real("base", 10000),
                    -static_cast<double>(pair) / static_cast<double>(pairs_));
  }

  double sign() const { return n_.attributes.flag("inverse") ? -1 : 1; }

  /// Returns a constant [positions,1,pairs] with `of(position, pair)`.
  std::string table(const auto& of) {
    std::vector<float> elements;
    for (std::int64_t position = 0; position < positions_; ++position)
      for (std::int64_t pair = 0; pair < pairs_; ++pair)
        elements.push_back(static_cast<float>(of(static_cast<double>(position), pair)));
    return n_.nodes().constant(Tensor({positions_, 1, pairs_}, std::span<const float>(elements)));
  }

  /// Returns the cosines and sines at the positions from 0 on.
  Two known_turns() {
    return {
        table([&](double at, std::int64_t pair) { return std::cos(at * angle(pair)); }),
        table([&](double at, std::int64_t pair) { return sign() * std::sin(at * angle(pair)); })};
  }

  /// Returns the cosines and sines at the positions from those on that input 1 has.
  Two computed_turns() {
    Dims axes;
    for (std::int64_t axis = 1; axis < leading_ + 3; ++axis) axes.push_back(axis);
    const std::string first = n_.unsqueezed(n_.cast(n_.input(1), DType::f32), axes);
    const std::string ahead = table([](double at, std::int64_t) { return at; });
    const std::string steps =
        table([&](double, std::int64_t pair) { return sign() * angle(pair); });
    const std::string angles = n_.add("Mul", {n_.add("Add", {first, ahead}), steps});
    return {n_.add("Cos", {angles}), n_.add("Sin", {angles})};
  }

  NodeExport& n_;
  std::int64_t leading_, positions_, heads_, width_;
  bool interleaved_;
  std::int64_t pairs_ = 0;
};

void rotary_embedding(NodeExport& n) {
  RotaryExport(n).write();
}

}  // namespace

std::span<const OpExport> sequence_exports() {
  static constexpr std::array<OpExport, 3> exports{{
      {&graph::attention, attention},
      {&graph::causal_mask, causal_mask},
      {&graph::rotary_embedding, rotary_embedding},
  }};
  return exports;
}

}  // namespace penstock
