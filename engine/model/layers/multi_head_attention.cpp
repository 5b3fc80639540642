// This is the multi-head attention of Model, with the parameters of torch.nn.MultiheadAttention.
#include <utility>

#include "engine/model/layers/attention_parts.hpp"
#include "engine/model/layers/inputs.hpp"
#include "graph/ops/arithmetic/linear.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/sequences/rotary_embedding.hpp"

namespace penstock {
namespace {

class MultiHead {
 public:
  MultiHead(const Composition& layer, const std::string& name, const MultiHeadInputs& inputs,
            const MultiHeadAttentionOptions& options)
      : layer_(layer), name_(name), inputs_(inputs), options_(options) {
    check();
    width_ = layer.shape(inputs.query)[-1];
    const int kv_heads = options.kv_heads != 0 ? options.kv_heads : options.heads;
    kv_width_ = width_ / options.heads * kv_heads;
  }

  Value value() const {
    const Value mixed = attention_of(layer_, projected(),
                                     {.heads = options_.heads,
                                      .causal = options_.causal,
                                      .dropout = options_.dropout,
                                      .name = name_ + "/attention",
                                      .kv_heads = options_.kv_heads,
                                      .key_padding_mask = options_.key_padding_mask,
                                      .attn_mask = options_.attn_mask},
                                     name_ + "/attention");
    const Value weight = layer_.parameter(name_ + ".out_proj.weight", {width_, width_},
                                          fan_in_uniform(static_cast<double>(width_)));
    const Value bias = bias_of("out_proj.bias", width_);
    return layer_.apply(graph::linear, with_bias(mixed, weight, bias), {}, name_);
  }

 private:
  void check() const {
    const int heads = options_.heads, kv_heads = options_.kv_heads;
    layer_.expect(heads >= 1, "expected 1 head or more, got " + std::to_string(heads));
    layer_.expect(kv_heads == 0 || (kv_heads > 0 && heads % kv_heads == 0),
                  "expected kv_heads that divide " + std::to_string(heads) + " heads, got " +
                      std::to_string(kv_heads));
    check("query", inputs_.query);
    check("key", inputs_.key);
    check("value", inputs_.value);
    layer_.expect(layer_.shape(inputs_.query)[-1] % heads == 0,
                  "expected a query with a multiple of " + std::to_string(heads) +
                      " features, got " + to_string(layer_.type(inputs_.query)));
  }

  void check(const std::string& what, const Value& input) const {
    const graph::TensorType type = layer_.type(input);
    layer_.expect(type.dtype == DType::f32 && type.shape.rank() >= 3,
                  "expected a " + what + " of type f32 and rank 3 or more, got " + to_string(type));
    layer_.expect_elements(input, "a " + what);
  }

  /// Returns q, k and v, or qkv, which linear layers make of the inputs.
  std::vector<Value> projected() const {
    const std::int64_t all = width_ + 2 * kv_width_;
    const std::int64_t of_key = layer_.shape(inputs_.key)[-1];
    const std::int64_t of_value = layer_.shape(inputs_.value)[-1];
    if (of_key != width_ || of_value != width_) {
      const Value q = weight_of("q_proj_weight", width_, width_);
      const Value k = weight_of("k_proj_weight", kv_width_, of_key);
      const Value v = weight_of("v_proj_weight", kv_width_, of_value);
      return apart({q, k, v}, bias_of("in_proj_bias", all));
    }
    const Value weight = weight_of("in_proj_weight", all, width_);
    const Value bias = bias_of("in_proj_bias", all);
    if (layer_.id(inputs_.key) == layer_.id(inputs_.query) &&
        layer_.id(inputs_.value) == layer_.id(inputs_.query))
      return {layer_.apply(graph::linear, with_bias(inputs_.query, weight, bias), {},
                           name_ + "/in_proj")};
    return apart(
        {rows("q_weight", weight, 0), rows("k_weight", weight, 1), rows("v_weight", weight, 2)},
        bias);
  }

  std::vector<Value> apart(const std::vector<Value>& weights, const Value& bias) const {
    const Value inputs[] = {inputs_.query, inputs_.key, inputs_.value};
    std::vector<Value> results;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::string part{"qkv"[i]};
      const Value own_bias = bias ? rows(part + "_bias", bias, i) : bias;
      results.push_back(layer_.apply(graph::linear, with_bias(inputs[i], weights[i], own_bias), {},
                                     name_ + "/" + part));
    }
    return results;
  }

  /// Returns the rows of a weight or a bias of q, k and v that belong to one of them, which have
  /// the numbers 0, 1 and 2.
  Value rows(const std::string& part, const Value& of_all, std::size_t number) const {
    const std::int64_t ends[] = {0, width_, width_ + kv_width_, width_ + 2 * kv_width_};
    return layer_.apply(
        graph::slice, {of_all},
        {{"axis", std::int64_t{0}}, {"begin", ends[number]}, {"end", ends[number + 1]}},
        name_ + "/" + part);
  }

  Value weight_of(const std::string& part, std::int64_t outputs, std::int64_t inputs) const {
    return layer_.parameter(name_ + "." + part, {outputs, inputs}, Initializer::xavier_uniform());
  }

  Value bias_of(const std::string& part, std::int64_t size) const {
    if (!options_.bias) return {};
    return layer_.parameter(name_ + "." + part, {size}, Initializer::constant(0));
  }

  const Composition& layer_;
  const std::string& name_;
  const MultiHeadInputs& inputs_;
  const MultiHeadAttentionOptions& options_;
  std::int64_t width_, kv_width_;
};

}  // namespace

Value multi_head_of(const Composition& layer, const std::string& name,
                    const MultiHeadInputs& inputs, const MultiHeadAttentionOptions& options) {
  return MultiHead(layer, name, inputs, options).value();
}

Value TransformerLayers::multi_head_attention(const std::string& name, Value query, Value key,
                                              Value value,
                                              const MultiHeadAttentionOptions& options) {
  return composed(*impl_, "multi_head_attention", name, [&](const Composition& layer) {
    return multi_head_of(layer, name, {query, key, value}, options);
  });
}

Value TransformerLayers::multi_head_attention(const std::string& name, Value x,
                                              const MultiHeadAttentionOptions& options) {
  return multi_head_attention(name, x, x, x, options);
}

Value TransformerLayers::rotary_embedding(Value x, const RotaryEmbeddingOptions& options) {
  return impl_->adding(graph::rotary_embedding.name, [&](Impl& impl) {
    graph::Attributes attributes{{"heads", std::int64_t{options.heads}},
                                 {"features", options.features},
                                 {"base", options.base},
                                 {"interleaved", std::int64_t{options.interleaved ? 1 : 0}}};
    std::vector<Value> inputs{x};
    if (options.position) {
      inputs.push_back(options.position);
      attributes.set("position", std::int64_t{1});
    }
    return impl.apply(graph::rotary_embedding, inputs, std::move(attributes));
  });
}

}  // namespace penstock
