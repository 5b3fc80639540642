#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/model/layers/attention_parts.hpp"
#include "graph/ops/activations/dropout.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/sequences/causal_mask.hpp"

namespace penstock {
namespace {

/// A hidden score is this number in place of -infinity, so that a softmax of hidden scores only has
/// no NaN. Any score that is not hidden is above it.
constexpr double hidden_score = -1e38;

/// An AttentionWithDropout adds the nodes. In its comments, the heads are one axis h, or the two
/// axes [kv_heads,h/kv_heads] if several heads of q share one of k and v.
class AttentionWithDropout {
 public:
  AttentionWithDropout(const Composition& layer, const AttentionOptions& options)
      : layer_(layer),
        options_(options),
        kv_heads_(options.kv_heads != 0 ? options.kv_heads : options.heads),
        group_(options.heads / kv_heads_) {}

  Value of(const std::vector<Value>& inputs, const std::string& name) const {
    if (inputs.size() == 3) return of(inputs[0], inputs[1], inputs[2], name);
    const std::int64_t width = layer_.shape(inputs[0])[-1] / (options_.heads + 2 * kv_heads_);
    const std::int64_t k = options_.heads * width, v = k + kv_heads_ * width;
    return of(part(inputs[0], 0, k), part(inputs[0], k, v),
              part(inputs[0], v, v + kv_heads_ * width), name);
  }

 private:
  Value of(Value q, Value k, Value v, const std::string& name) const {
    const auto width = static_cast<double>(layer_.shape(q)[-1] / options_.heads);
    Value scores = layer_.apply(graph::matmul, {split(q, group_), split(k, 1)},
                                {{"transpose_b", std::int64_t{1}}});
    scores = layer_.apply(graph::scale, {scores}, {{"factor", 1 / std::sqrt(width)}});
    if (options_.causal) scores = layer_.apply(graph::causal_mask, {scores});
    if (options_.attn_mask) scores = layer_.apply(graph::add, {scores, options_.attn_mask});
    const std::vector<Value> hidden = hidden_keys(layer_.shape(scores).rank());
    scores = replaced(scores, hidden, hidden_score);
    Value shares = layer_.apply(graph::softmax, {scores}, {{"axis", std::int64_t{-1}}});
    shares = replaced(shares, hidden, 0);
    shares = layer_.apply(graph::dropout, {shares}, {{"p", options_.dropout}}, options_.name);
    return join(layer_.apply(graph::matmul, {shares, split(v, 1)}), name);
  }

  /// Returns x [N,...,T,h·d] as [N,...,h,T,d], where x has `group` heads for each of k and v.
  Value split(Value x, std::int64_t group) const {
    Integers wanted = layer_.open_dims(x);
    wanted.back() /= kv_heads_ * group;
    wanted.insert(wanted.end() - 1, kv_heads_);
    if (group_ > 1) wanted.insert(wanted.end() - 1, group);
    const std::size_t rank = wanted.size(), rows = rank - head_axes() - 2;
    Integers axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(rows));
    axes.insert(axes.end() - 1, static_cast<std::int64_t>(rows));
    x = layer_.apply(graph::reshape, {x}, {{"shape", std::move(wanted)}});
    return layer_.apply(graph::transpose, {x}, {{"axes", std::move(axes)}});
  }

  /// Returns x [N,...,h,T,d] as [N,...,T,h·d].
  Value join(Value x, const std::string& name) const {
    const std::size_t rank = layer_.shape(x).rank(), heads = rank - head_axes() - 2;
    Integers axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    axes.erase(axes.end() - 2);
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(heads),
                static_cast<std::int64_t>(rank - 2));
    x = layer_.apply(graph::transpose, {x}, {{"axes", std::move(axes)}});
    Integers wanted = layer_.open_dims(x);
    const std::int64_t features = options_.heads * wanted.back();
    wanted.resize(heads + 1);
    wanted.push_back(features);
    return layer_.apply(graph::reshape, {x}, {{"shape", std::move(wanted)}}, name);
  }

  std::size_t head_axes() const { return group_ > 1 ? 2 : 1; }

  Value part(Value qkv, std::int64_t begin, std::int64_t end) const {
    return layer_.apply(graph::slice, {qkv},
                        {{"axis", std::int64_t{-1}}, {"begin", begin}, {"end", end}});
  }

  /// Returns conditions, one for each mask, which are not 0 where a key is hidden from a query.
  /// They broadcast to the scores, which have `rank` axes.
  std::vector<Value> hidden_keys(std::size_t rank) const {
    std::vector<Value> hidden;
    if (options_.key_padding_mask) {
      Integers dims(rank, 1);
      dims.front() = 0;
      dims.back() = layer_.shape(options_.key_padding_mask)[-1];
      hidden.push_back(
          layer_.apply(graph::reshape, {options_.key_padding_mask}, {{"shape", std::move(dims)}}));
    }
    if (options_.attn_mask)
      hidden.push_back(layer_.apply(graph::less_equal, {options_.attn_mask, number(hidden_score)}));
    return hidden;
  }

  Value replaced(Value x, const std::vector<Value>& hidden, double by) const {
    for (const Value& keys : hidden) x = layer_.apply(graph::where, {keys, number(by), x});
    return x;
  }

  Value number(double value) const { return layer_.apply(graph::fill, {}, {{"value", value}}); }

  const Composition& layer_;
  const AttentionOptions& options_;
  std::int64_t kv_heads_, group_;
};

}  // namespace

Value attention_with_dropout(const Composition& layer, const std::vector<Value>& inputs,
                             const AttentionOptions& options, const std::string& name) {
  return AttentionWithDropout(layer, options).of(inputs, name);
}

}  // namespace penstock
