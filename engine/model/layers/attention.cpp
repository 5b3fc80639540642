// This is the attention of Model. With a dropout it is made of several ops.
#include <cmath>
#include <utility>

#include "engine/model/layers/inputs.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/activations/dropout.hpp"
#include "graph/ops/activations/softmax.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/matmul.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/sequences/attention.hpp"
#include "graph/ops/sequences/cached_attention.hpp"
#include "graph/ops/sequences/causal_mask.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using Integers = std::vector<std::int64_t>;

/// Returns the axes of a tensor of rank `rank` with the second and the third axis from the end
/// exchanged.
Integers exchanged_axes(std::size_t rank) {
  Integers axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<std::int64_t>(i);
  std::swap(axes[rank - 2], axes[rank - 3]);
  return axes;
}

/// An AttentionWithDropout makes an attention of several ops, because a dropout needs the shares,
/// which the softmax makes of the scores, as a value of the network. Impl is a ModelState.
template <class Impl>
class AttentionWithDropout {
 public:
  AttentionWithDropout(Impl& impl, const AttentionOptions& options)
      : impl_(impl), options_(options) {}

  Value of(Value q, Value k, Value v) const {
    const double width = static_cast<double>(shape(q)[-1] / options_.heads);
    Value scores =
        impl_.apply(graph::matmul, {split(q), split(k)}, {{"transpose_b", std::int64_t{1}}});
    scores = impl_.apply(graph::scale, {scores}, {{"factor", 1 / std::sqrt(width)}});
    if (options_.causal) scores = impl_.apply(graph::causal_mask, {scores});
    Value shares = impl_.apply(graph::softmax, {scores}, {{"axis", std::int64_t{-1}}});
    shares = impl_.apply(graph::dropout, {shares}, {{"p", options_.dropout}}, options_.name);
    return join(impl_.apply(graph::matmul, {shares, split(v)}));
  }
  Value of(Value qkv) const { return of(part(qkv, 0), part(qkv, 1), part(qkv, 2)); }

 private:
  Shape shape(Value x) const { return impl_.network.graph().type(impl_.id("attention", x)).shape; }

  /// Returns x [N,...,T,h·d] as [N,...,h,T,d].
  Value split(Value x) const {
    const Shape dims = shape(x);
    Integers wanted(dims.begin(), dims.end());
    wanted.back() /= options_.heads;
    wanted.insert(wanted.end() - 1, options_.heads);
    wanted.front() = 0;  // The first axis keeps its size, which is that of the micro-batch.
    x = impl_.apply(graph::reshape, {x}, {{"shape", wanted}});
    return impl_.apply(graph::transpose, {x}, {{"axes", exchanged_axes(wanted.size())}});
  }

  /// Returns x [N,...,h,T,d] as [N,...,T,h·d].
  Value join(Value x) const {
    x = impl_.apply(graph::transpose, {x}, {{"axes", exchanged_axes(shape(x).rank())}});
    const Shape dims = shape(x);
    Integers wanted(dims.begin(), dims.end() - 1);
    wanted.back() *= dims[-1];
    wanted.front() = 0;
    return impl_.apply(graph::reshape, {x}, {{"shape", wanted}});
  }

  /// Returns q, k or v, which have the numbers 0, 1 and 2.
  Value part(Value qkv, std::int64_t number) const {
    const std::int64_t width = shape(qkv)[-1] / 3;
    return impl_.apply(
        graph::slice, {qkv},
        {{"axis", std::int64_t{-1}}, {"begin", number * width}, {"end", (number + 1) * width}});
  }

  Impl& impl_;
  const AttentionOptions& options_;
};

/// Checks the inputs of an attention that is made of several ops, as the op attention does.
void check_inputs(const std::vector<graph::TensorType>& types,
                  const graph::Attributes& attributes) try {
  graph::attention.infer(attributes, types);
} catch (const Error& error) {
  throw Error(error.code(), std::string("attention: ") + error.what());
}

/// Returns the attention of q, k and v, or of qkv, as a value of `impl`, which is a ModelState.
Value attention_of(auto& impl, const std::vector<Value>& inputs, const AttentionOptions& options) {
  graph::Attributes attributes{{"heads", std::int64_t{options.heads}},
                               {"causal", std::int64_t{options.causal ? 1 : 0}}};
  if (options.dropout == 0) return impl.apply(graph::attention, inputs, std::move(attributes));
  if (options.name.empty())
    throw Error(Errc::invalid_argument,
                "attention: expected AttentionOptions::name to be set, because the masks of the "
                "dropout depend on it, got an empty name");
  std::vector<graph::TensorType> types;
  for (const Value& input : inputs)
    types.push_back(impl.network.graph().type(impl.id("attention", input)));
  check_inputs(types, attributes);
  NetworkBuilder::Draft draft(impl.network);
  const AttentionWithDropout parts(impl, options);
  const Value result =
      inputs.size() == 1 ? parts.of(inputs[0]) : parts.of(inputs[0], inputs[1], inputs[2]);
  draft.keep();
  return result;
}

}  // namespace

Value Layers::attention(Value q, Value k, Value v, const AttentionOptions& options) {
  return impl_->calling(graph::attention.name, [&](Impl& impl) {
    return attention_of(impl, {q, k, v}, options);
  });
}

Value Layers::attention(Value qkv, const AttentionOptions& options) {
  return impl_->calling(graph::attention.name,
                        [&](Impl& impl) { return attention_of(impl, {qkv}, options); });
}

Value Layers::cached_attention(const std::string& name, Value q, Value k, Value v, Value position,
                               const CachedAttentionOptions& options) {
  return impl_->calling(graph::cached_attention.name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::cached_attention, name, q);
    layer.expect_positive("length", options.length);
    for (const Value& input : {k, v, position}) layer.input(impl.id("cached_attention", input));
    const auto buffer = [&](const std::string& suffix, const Value& rows) {
      layer.buffer(suffix, {options.length, shape_of(impl, "cached_attention", rows)[-1]},
                   Initializer::constant(0));
    };
    layer.expect_rank(3);
    buffer("keys", q);
    buffer("values", v);
    layer.buffer("known", {1}, Initializer::constant(0));
    return impl.finish(layer, {{"heads", std::int64_t{options.heads}}});
  });
}

}  // namespace penstock
